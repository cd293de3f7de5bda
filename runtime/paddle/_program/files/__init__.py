"""Values and programs on disk, in the layouts of the original. A module for each layout; all of them write a
file whole or not at all, and none runs what it reads."""
