"""``fluid.incubate.fleet``: fleet as 1.x had it."""
