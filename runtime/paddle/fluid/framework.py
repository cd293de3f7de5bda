"""Programs as they are written: Program, Block, Operator, Variable, and those that layers are appended to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._mode import enable_static
from paddle._program import upstream_flags
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType, dtype_of, is_float
from paddle._program.description.guards import (
    default_main_program,
    default_startup_program,
    name_scope,
    program_guard,
    switch_main_program,
    switch_startup_program,
)
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import GRAD_SUFFIX, Parameter, Variable
from paddle._program.errors import BadArgument
from paddle._program.running.places import (
    CPUPlace,
    cpu_places,
    cuda_pinned_places,
    cuda_places,
    is_compiled_with_cuda,
)
from paddle.fluid import core as core  # as in layers
from paddle.fluid import unique_name as unique_name  # programs name layers by it
from paddle.fluid._listed import lacking

EMPTY_VAR_NAME, TEMP_VAR_NAME, ZERO_VAR_SUFFIX = "@EMPTY@", "@TEMP@", "@ZERO"
disable_dygraph = disable_imperative = enable_static  # programs are static here to begin with
GRAD_VAR_SUFFIX, CONTROL_DEP_VAR_PREFIX = GRAD_SUFFIX, "__control_var"

__all__ = [
    "CONTROL_DEP_VAR_PREFIX",
    "EMPTY_VAR_NAME",
    "GRAD_SUFFIX",
    "GRAD_VAR_SUFFIX",
    "TEMP_VAR_NAME",
    "ZERO_VAR_SUFFIX",
    "Block",
    "Operator",
    "Parameter",
    "Program",
    "Variable",
    "convert_np_dtype_to_dtype_",
    "cpu_places",
    "cuda_pinned_places",
    "cuda_places",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "disable_dygraph",
    "disable_imperative",
    "dtype_is_floating",
    "dygraph_only",
    "get_flags",
    "get_var",
    "grad_var_name",
    "in_dygraph_mode",
    "is_compiled_with_cuda",
    "is_compiled_with_xpu",
    "name_scope",
    "program_guard",
    "require_version",
    "set_flags",
    "switch_main_program",
    "switch_startup_program",
]


def convert_np_dtype_to_dtype_(np_dtype: Any) -> VarType:
    """The VarType of numpy's dtype."""
    return dtype_of(np_dtype)


def grad_var_name(var_name: str) -> str:
    """The name of a variable's gradient."""
    return var_name + GRAD_SUFFIX


def get_var(name: str, program: Program | None = None) -> Variable:
    """A variable of the program, the one being written by default."""
    return (program or default_main_program()).global_block().var(name)


_get_var = get_var


def _current_expected_place() -> CPUPlace:
    """Where operators are computed."""
    return CPUPlace()


def _cpu_num() -> int:
    """How many parts of a batch are computed at once, as CPU_NUM says."""
    return upstream_flags.cpu_count()


def _dygraph_tracer() -> None:
    """Nothing writes down what eager programs do, for there are none."""


def in_dygraph_mode() -> bool:
    """Whether operators run as they are written: never here."""
    return False


def is_compiled_with_xpu() -> bool:
    """No: this release computes on CPUs."""
    return False


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Refuses a program that is for none of the releases whose interface is here, which are 0.13 to 2.6."""
    least = _version("min_version", min_version)
    most = _LAST if max_version is None else _version("max_version", max_version)
    if least > _LAST or most < _FIRST or least > most:
        wanted = f"{min_version} or higher" if max_version is None else f"{min_version} to {max_version}"
        raise BadArgument(
            f"VersionError: the program is for PaddlePaddle {wanted}, and this release has the interface of "
            f"0.13 to 2.6 (fluid up to 1.8): it may run if the call of require_version is taken out"
        )


_FIRST, _LAST = (0, 13, 0, 0), (2, 6, 9, 9)


def _version(argument: str, said: Any) -> tuple[int, ...]:
    """What a version says, as four numbers."""
    if not isinstance(said, str):
        raise TypeError(f"{argument} of require_version is a text such as '1.6.0', and not {said!r}")
    if not re.fullmatch(r"\d+(\.\d+){0,3}", said):
        raise BadArgument(f"{argument} of require_version is one to four numbers, '1.6.0', and not {said!r}")
    numbers = [int(each) for each in said.split(".")]
    return (*numbers, *(0,) * (4 - len(numbers)))


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Operators of the block are for a device: the CPU is the only one."""
    if device is not None and device.partition(":")[0] not in ("cpu", "gpu"):
        raise ValueError(f"device_guard takes 'cpu' or 'gpu', and not {device!r}")
    yield


def dtype_is_floating(dtype: Any) -> bool:
    """Whether a dtype, by any of its names, is of floating numbers."""
    return is_float(dtype_of(dtype))


def set_flags(flags: Mapping[str, Any]) -> None:
    """Set flags of upstream's, over what the environment says of them. Heeded are FLAGS_rpc_deadline,
    FLAGS_communicator_max_merge_var_num and FLAGS_check_nan_inf; others are what ``get_flags`` says."""
    if not isinstance(flags, Mapping):
        raise TypeError(f"set_flags takes a dict of names to values, and not {flags!r}")
    upstream_flags.set_flags(flags)


def get_flags(flags: Any) -> dict[str, Any]:
    """What was set, or what the environment says, or what holds at first, by name; None of flags that 1.8.5
    for CPUs has not."""
    names = [flags] if isinstance(flags, str) else flags
    return {name: upstream_flags.given(name) for name in names}


def dygraph_only(function: Any) -> Any:
    """Upstream's mark of functions for eager programs, of which there are none."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotInThisRelease(f"{function.__name__} is for eager programs; programs are static here")

    return refuse


__getattr__ = lacking(__name__)
