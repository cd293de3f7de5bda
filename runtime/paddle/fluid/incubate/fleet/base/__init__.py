"""Role makers and Fleet itself."""
