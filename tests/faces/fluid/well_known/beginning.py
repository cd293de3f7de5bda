"""First values that any machine and any release gives alike: they follow from the names of parameters."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

import paddle.fluid as fluid


def begin(program: Any, scale: float) -> None:
    """Matrices drawn by their names; vectors stay as their initializers say, which is no draw."""
    for parameter in program.global_block().all_parameters():
        tensor = fluid.global_scope().find_var(parameter.name).get_tensor()
        shape = np.array(tensor).shape
        if len(shape) > 1:
            drawn = np.random.RandomState(crc32(parameter.name.encode()) % 9999).randn(*shape)
            tensor.set((drawn * scale).astype("float32"), fluid.CPUPlace())


def number(value: Any) -> float:
    """A fetched value of one element."""
    return float(np.asarray(value).reshape(-1)[0])
