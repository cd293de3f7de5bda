"""Which boxes overlap none before them.

It must never know an operator's block. Guarantee: numbers of boxes come in the order of the boxes.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.ops.boxes import keeping
from paddle._program.ops.formulas.formula import Attrs, Formula


def _kept(told: Attrs, boxes: np.ndarray) -> np.ndarray:
    return np.array(keeping.kept(boxes, np.arange(len(boxes)), told["iou_threshold"]), np.int64)


Formula(
    "nms",
    "Boxes",
    "KeepBoxesIdxs",
    _kept,
    shape=lambda told, boxes: (-1,),
    dtypes={"KeepBoxesIdxs": VarType.INT64},
).register(iou_threshold=1.0)
