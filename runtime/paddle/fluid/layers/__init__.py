"""Layers: functions that append operators to the program that is being written.

Each family lies in a file of its own; all names are seen here.
"""

from paddle.fluid.layers.io import data
from paddle.fluid.layers.nn import fc, mean, square_error_cost

__all__ = ["data", "fc", "mean", "square_error_cost"]
