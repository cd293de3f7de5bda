"""Machines: which have what, how others are reached, what runs there, and whether they can be believed."""
