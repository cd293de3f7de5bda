"""Operators that choose: boxes of objects, pixels of regions, columns of products, ways of a search."""

from paddle._engine.ops.chosen import beams, boxes, regions, selection
from paddle._engine.registry import Row

ROWS: tuple[Row, ...] = (*boxes.ROWS, *regions.ROWS, *selection.ROWS, *beams.ROWS)
