"""The families of operators: importing one registers its rows (op_rows.py)."""

from paddle._program.ops import beams, classes, dense, filling, recurrent, sequences, tags

__all__ = ["beams", "classes", "dense", "filling", "recurrent", "sequences", "tags"]
