"""Compiled inner loops. Each is tested against a numpy twin; importing a kernel module loads numba."""
