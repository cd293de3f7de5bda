"""The families of operators: importing one registers its rows (op_rows.py)."""

from paddle._program.ops import dense, files, filling

__all__ = ["dense", "files", "filling"]
