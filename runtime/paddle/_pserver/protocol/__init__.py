"""Protocol: what trainers and shards say to each other, in which bytes, and which shard has which values."""
