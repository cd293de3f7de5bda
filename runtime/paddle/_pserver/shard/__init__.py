"""Shard: the state machine of one part of the parameters, and the parts of which it is made."""
