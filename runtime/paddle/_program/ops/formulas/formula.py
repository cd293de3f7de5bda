"""A formula: an operator that is said by a function of arrays, and by one for its slope.

It must never know what is computed. Guarantees: what a formula gives has the dtypes that its operator was
declared with; a mistake in what it is given is told by the operator's line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of, is_float
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.running.host import Host
from paddle._program.running.tape import Done, Slopes

Shape = tuple[int, ...]
Attrs = Mapping[str, Any]


@dataclass(frozen=True)
class Formula:
    """``inputs``: slots in the order of ``value``'s arguments; ``X?`` may be empty (None), ``X*`` is a list.
    ``value(attrs, *arrays)``: an array for each of ``outputs``. ``slope(attrs, arrays, outs, came)``: of each
    input an array or None, from the slope of the first output. ``shape(attrs, *shapes)``: of each output, of
    the first input if None. ``dtypes``: of outputs that are not of the first input's.
    """

    type: str
    inputs: str
    outputs: str
    value: Callable[..., Any]
    slope: Callable[..., Sequence[Any]] | None = None
    shape: Callable[..., Any] | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)

    def register(self, **attrs: Any) -> Formula:
        """Make it the row of its operator, with these attributes."""
        hosts(self.type, infer=self._infer, **attrs)(self._run)
        if self.slope is not None:
            backs(self.type)(self._back)
        return self

    def _infer(self, op: Operator) -> None:
        given = [self._of_slot(op, slot, op.block._var_recursive) for slot in self.inputs.split()]
        shapes = [_shapes(each) for each in given]
        found = shapes[0] if self.shape is None else self._told(op, self.shape, op.attrs, *shapes)
        outputs = self.outputs.split()
        several = found if found and isinstance(found[0], tuple) else [found] * len(outputs)
        first = given[0][0] if isinstance(given[0], list) else given[0]
        for slot, shape in zip(outputs, several, strict=True):
            if not op.outputs.get(slot):
                continue
            made = op.block._var_recursive(op.output(slot)[0])
            made.shape, made.dtype = tuple(shape), self._dtype(op, slot, first.dtype)
            made.stop_gradient = made.stop_gradient or not is_float(made.dtype)

    def _dtype(self, op: Operator, slot: str, otherwise: Any) -> Any:
        told = self.dtypes.get(slot, otherwise)
        return dtype_of(told(op) if callable(told) else told)

    def _of_slot(self, op: Operator, slot: str, look: Callable[[str], Any]) -> Any:
        names = op.inputs.get(slot.rstrip("?*")) or []
        if slot.endswith("*"):
            return [look(name) for name in names]
        return look(names[0]) if names else None

    def _told(self, op: Operator, function: Callable[..., Any], *given: Any) -> Any:
        try:
            return function(*given)
        except (ValueError, IndexError) as error:
            raise BadProgram(f"operator {self.type!r} (written at {op.where}): {error}") from None

    def _arrays(self, op: Operator, look: Callable[[str], Any]) -> list[Any]:
        def array(name: str) -> np.ndarray:
            value = np.asarray(look(name))
            is_truth = op.block._var_recursive(name).dtype == VarType.BOOL
            return value.astype(bool) if is_truth else value

        return [self._of_slot(op, slot, array) for slot in self.inputs.split()]

    def _run(self, host: Host, op: Operator) -> None:
        found = self._told(op, self.value, op.attrs, *self._arrays(op, host.get))
        outputs = self.outputs.split()
        for slot, value in zip(outputs, found if isinstance(found, tuple) else (found,), strict=True):
            if op.outputs.get(slot):
                host.give(op, slot, _kept(np.asarray(value), op.block._var_recursive(op.output(slot)[0])))

    def _back(self, done: Done, slopes: Slopes) -> None:
        op = done.op
        arrays = self._arrays(op, done.read.__getitem__)
        outs = [done.outputs(slot)[0] if op.outputs.get(slot) else None for slot in self.outputs.split()]
        came = slopes.take(op.output(self.outputs.split()[0])[0])
        if came is None or self.slope is None:
            return
        came = np.asarray(came).reshape(np.asarray(outs[0]).shape)
        for slot, found in zip(self.inputs.split(), self.slope(op.attrs, arrays, outs, came), strict=True):
            listed = found if slot.endswith("*") else [found]
            for at, each in enumerate(listed or ()):
                if each is not None:
                    done.add(slopes, slot.rstrip("?*"), np.asarray(each, np.float32, order="C"), at)


def _shapes(given: Any) -> Any:
    if isinstance(given, list):
        return [tuple(each.shape) for each in given]
    return None if given is None else tuple(given.shape)


def _kept(value: np.ndarray, described: Any) -> np.ndarray:
    """As arrays are kept while a program runs: in single precision, 64 bits or as truths."""
    if described.dtype == VarType.BOOL:
        return value.astype(bool)
    return np.asarray(value, np.float32 if is_float(described.dtype) else np.int64, order="C")


def unbroadcast(slope: np.ndarray, shape: Shape) -> np.ndarray:
    """The slope of what was broadcast from ``shape``: summed over each axis that was repeated."""
    extra = slope.ndim - len(shape)
    axes = (*range(extra), *(at + extra for at, size in enumerate(shape) if size == 1))
    return slope.sum(axes, keepdims=True).reshape(shape) if axes else slope


def broadcast(one: Shape, other: Shape) -> Shape:
    """The sizes of what two give; an open one stays open beside 1."""
    rank = max(len(one), len(other))
    pairs = zip(*((1,) * (rank - len(each)) + tuple(each) for each in (one, other)), strict=True)
    found = []
    for a, b in pairs:
        if a != b and 1 not in (a, b) and -1 not in (a, b):
            raise ValueError(f"{list(one)} and {list(other)} cannot be broadcast to each other")
        found.append(max(a, b) if max(a, b) > 1 or -1 not in (a, b) else -1)
    return tuple(found)


def flat(sizes: Shape) -> int:
    """How many elements there are; -1 where that is open."""
    return -1 if any(size < 0 for size in sizes) else int(np.prod(sizes))
