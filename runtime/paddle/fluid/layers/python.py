"""Layers that call functions of Python, and those of several devices, of which there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.ops.arrays import Callback
from paddle._program.writing.layer_helper import LayerHelper

__all__ = ["ParallelDo", "get_places", "py_func"]


def py_func(
    func: Callable[..., Any],
    x: Any,
    out: Any,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Any = None,
) -> Any:
    """What ``func`` gives, called with LoDTensors, in variables whose shapes and dtypes the program has said.

    ``backward_func`` gives the gradients of ``x``, called with x, out and the gradients of out, all but what
    is among ``skip_vars_in_backward_input``. Without it no gradient goes through.
    """
    helper = LayerHelper("py_func")
    made = list(out) if isinstance(out, list | tuple) else [] if out is None else [out]
    if not all(isinstance(each, Variable) and each.has_shape for each in made):
        raise BadArgument(
            "out of py_func are variables whose shapes are said: create_var(name, shape, dtype)"
        )
    given = list(x) if isinstance(x, list | tuple) else [] if x is None else [x]
    attrs: dict[str, Any] = {"forward_callable_id": Callback.of(func)}
    if backward_func is not None:
        skipped = skip_vars_in_backward_input
        several = skipped if isinstance(skipped, list | tuple) else [] if skipped is None else [skipped]
        attrs["backward_callable_id"] = Callback.of(backward_func)
        attrs["backward_skip_vars"] = [each if isinstance(each, str) else each.name for each in several]
    helper.append_op("py_func", {"X": given}, {"Out": made}, attrs)
    return out


def get_places(device_count: int | None = None, device_type: str | None = None) -> list[Any]:
    """The places that a ParallelDo uses: one, for operators use all cores there are as they are."""
    return [None]


class ParallelDo:
    """Its block, once: ``with pd.do(): x = pd.read_input(x); ...; pd.write_output(loss)``, then ``pd()``."""

    def __init__(self, places: Sequence[Any], use_nccl: bool = False, name: str | None = None) -> None:
        self._outputs: list[Variable] = []

    @contextmanager
    def do(self) -> Iterator[None]:
        """What is done."""
        yield

    def read_input(self, var: Variable) -> Variable:
        """All rows of a variable."""
        return var

    def write_output(self, var: Variable) -> None:
        """Say what is given."""
        self._outputs.append(var)

    def __call__(self) -> Any:
        """What is given: one variable, or several."""
        if not self._outputs:
            raise BadArgument("ParallelDo gives nothing: call write_output(...) in its block")
        return self._outputs[0] if len(self._outputs) == 1 else self._outputs
