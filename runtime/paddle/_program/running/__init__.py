"""Runs of programs: the Executor, scopes and values, a block's segments and host operators one after
another, feeds and fetches. It must never write an operator."""
