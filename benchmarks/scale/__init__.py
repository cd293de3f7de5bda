"""``scale``: what a job of many trainers and pservers would do, simulated with costs measured here.

The simulation drives the real state machines of a shard and of a trainer's modes, so that who waits for whom
is not modelled but is what the code does; only time is. See docs/benchmarks.md for what that is worth.
"""
