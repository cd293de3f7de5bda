"""Trainer: a trainer's end: steps on lines to all shards, or on one shard in its own process."""
