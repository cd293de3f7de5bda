"""``launch``: how long it takes from the command to the first step on real nodes, phase by phase."""
