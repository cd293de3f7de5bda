"""What holds for a whole program of the 2.x generation: ``paddle.seed``, the default dtype, ``ParamAttr``.

It must never know a layer. Guarantee: with a seed, two runs of a program text draw the same numbers.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import VarType, dtype_of, is_float
from paddle._program.description.guards import default_main_program, default_startup_program
from paddle._program.description.written import now
from paddle._program.writing import param_attr as _of_programs

__all__ = ["ParamAttr", "get_default_dtype", "seed", "set_default_dtype"]


def set_default_dtype(d: Any) -> None:
    """What floating point numbers are where nobody says: "float32" or "float64"."""
    kind = dtype_of(d)
    if not is_float(kind) or kind == VarType.BF16:
        raise TypeError(f"the default dtype is float32 or float64, and {d!r} is not")
    now().dtype = kind


def get_default_dtype() -> str:
    """The default dtype by name."""
    from paddle._program.description.dtypes import numpy_dtype

    return numpy_dtype(now().dtype or VarType.FP32).name


def seed(seed: int) -> None:
    """The seed of all that the default programs draw, and those made later; first values included."""
    now().seed = int(seed)
    default_main_program().random_seed = int(seed)
    default_startup_program().random_seed = int(seed)


class ParamAttr(_of_programs.ParamAttr):
    """What a parameter is called, how it begins and how it is trained.

    ``learning_rate`` multiplies the optimizer's.
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        super().__init__(
            name=name,
            initializer=initializer,
            learning_rate=learning_rate,
            regularizer=regularizer,
            trainable=trainable,
            do_model_average=do_model_average,
            need_clip=need_clip,
        )


_OF_CORE = ("CPUPlace", "CUDAPlace", "CUDAPinnedPlace", "XPUPlace")
_OF_PROGRAMS = frozenset(
    {"Block", "Parameter", "Program", "Variable", "get_flags", "in_dygraph_mode", "set_flags"}
)


def __getattr__(name: str) -> Any:
    if name == "in_dynamic_mode":
        from paddle import _mode

        return _mode.in_dynamic_mode
    if name in _OF_PROGRAMS:
        from paddle.fluid import framework

        return getattr(framework, name)
    if name == "core" or name in _OF_CORE:
        from paddle.fluid import core

        return core if name == "core" else getattr(core, name)
    raise AttributeError(f"paddle.framework.{name} does not exist", name=name)
