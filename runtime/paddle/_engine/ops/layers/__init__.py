"""Layers that are one operator each: their rows."""

from paddle._engine.ops.layers import recurrent
from paddle._engine.registry import Row

ROWS: tuple[Row, ...] = recurrent.ROWS
