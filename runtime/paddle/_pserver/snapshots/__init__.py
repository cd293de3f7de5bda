"""Snapshots: the states of shards on disk, and what can be done with them."""
