"""What programs take from upstream's test of operators: a number of 16 bits as one of 32.

It must never know a program. Guarantee: every bfloat16 is the float32 of the same value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["convert_uint16_to_float"]


def convert_uint16_to_float(in_list: Any) -> np.ndarray:
    """bfloat16, as arrays of uint16 hold it, in float32."""
    bits = np.asarray(in_list)
    return np.left_shift(bits.astype(np.uint32), 16).view(np.float32).reshape(bits.shape)
