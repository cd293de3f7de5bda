"""Service: shards as processes with clocks, connections and a page for people."""
