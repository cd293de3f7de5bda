"""The families of operators: importing one registers its rows (op_rows.py)."""

from paddle._program.ops import beams, classes, dense, files, filling, recurrent, sequences, tags, talking

__all__ = ["beams", "classes", "dense", "files", "filling", "recurrent", "sequences", "tags", "talking"]
