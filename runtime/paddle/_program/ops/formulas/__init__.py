"""Operators that numpy computes between two engine programs, each with its slope: one file a family.

They must never know a program. Guarantee: slots, attributes and values are those of the original's operator
of that name, so what is saved with one is read there.
"""

from paddle._program.ops.formulas import counts, diagonals, edits, running, special, windows

__all__ = ["counts", "diagonals", "edits", "running", "special", "windows"]
