"""Other machines: how they are reached, what runs there, and whether what they say can be believed."""
