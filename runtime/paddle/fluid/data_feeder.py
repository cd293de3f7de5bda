"""DataFeeder: what turns the samples of a reader into what ``Executor.run`` is fed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import dtype_of, numpy_dtype
from paddle._program.description.guards import default_main_program
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.running.feeder import SampleFeeder, Slot
from paddle._program.upstream_flags import cpu_count

__all__ = ["DataFeeder", "check_dtype", "check_type", "check_variable_and_dtype", "convert_dtype"]


class DataFeeder(SampleFeeder):
    """``feed_list``: the variables, or names of them in ``program``, in the order of a sample's fields."""

    def __init__(self, feed_list: Sequence[Any], place: Any = None, program: Program | None = None) -> None:
        program = default_main_program() if program is None else program
        self.place = place
        self.feed_names: list[str] = []
        self.feed_dtypes: list[Any] = []
        self.feed_shapes: list[Any] = []
        self.feed_lod_level: list[int] = []
        slots = []
        for each in feed_list:
            variable = program.global_block().var(each) if isinstance(each, str) else each
            if not isinstance(variable, Variable):
                raise BadArgument(f"feed_list holds variables and names of them, not {each!r}")
            slots.append(_slot(variable))
            self.feed_names.append(variable.name)
            self.feed_dtypes.append(variable.dtype)
            self.feed_shapes.append(variable.shape)
            self.feed_lod_level.append(variable.lod_level)
        super().__init__(slots, cpu_count)


def _slot(variable: Variable) -> Slot:
    """A row is what is behind the first size, which is that of the batch, or of all rows of sequences."""
    return Slot(variable.name, variable.shape[1:], numpy_dtype(variable.dtype), variable.lod_level)


def convert_dtype(dtype: Any) -> str:
    """The name of a dtype, as arrays have it."""
    return str(numpy_dtype(dtype_of(dtype)))


def check_type(
    input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = ""
) -> None:
    """Raise where an argument of a layer is not of a type, or of one of several."""
    if not isinstance(input, expected_type):
        raise BadArgument(
            f"{op_name}: {input_name} is {expected_type}, and not {type(input).__name__}. {extra_message}"
        )


def check_dtype(
    input_dtype: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Raise where a dtype is none of these."""
    known = [expected_dtype] if isinstance(expected_dtype, str) else list(expected_dtype)
    found = convert_dtype(input_dtype)
    if found not in known:
        raise BadArgument(
            f"{op_name}: {input_name} is of {', '.join(known)}, and not of {found}. {extra_message}".strip()
        )


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Raise where an argument of a layer is no Variable of such a dtype."""
    check_type(input, input_name, Variable, op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
