"""The families of operators: importing one registers its rows (op_rows.py)."""

from paddle._program.ops import dense, filling, talking

__all__ = ["dense", "filling", "talking"]
