"""What comes into a program from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._listed import of_layers

__all__ = ["data", "load"]


def data(
    name: str,
    shape: Sequence[int | None],
    append_batch_size: bool = True,
    dtype: Any = "float32",
    lod_level: int = 0,
    type: Any = VarType.LOD_TENSOR,
    stop_gradient: bool = True,
) -> Variable:
    """A variable that every run is fed. ``append_batch_size``: a leading -1 stands for the batch, unless the
    shape has a -1 already. ``lod_level``: how deep sequences are nested; their rows are the first size."""
    sizes = [-1 if size is None else int(size) for size in shape]
    if append_batch_size and not any(size < 0 for size in sizes):
        sizes = [-1, *sizes]
    return (
        default_main_program()
        .current_block()
        .create_var(
            name,
            shape=sizes,
            dtype=dtype,
            lod_level=lod_level,
            type=type,
            stop_gradient=stop_gradient,
            is_data=True,
        )
    )


def load(out: Variable, file_path: str, load_as_fp16: bool | None = None) -> None:
    """Have each run put what a file holds, as ``fluid.io.save_vars`` writes it, into a variable."""
    attrs = {"file_path": file_path} | ({} if load_as_fp16 is None else {"load_as_fp16": load_as_fp16})
    LayerHelper("load").append_op("load", {}, {"Out": [out]}, attrs)


__getattr__ = of_layers(__name__)
