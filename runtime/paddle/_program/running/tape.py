"""The tape: what a run has done, step by step, so that gradients can go back along it.

A loop leaves on it each turn, a branch what was taken. Host operators have rules (``@backs``) that take the
gradients of what they gave (``Slopes``) and add to those of what they read. It must never know a program.

Guarantees: a name that was written several times has, at each step of the way back, the gradient of what it
stood for there; what stands on the tape is as it was when it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._program.description.dtypes import is_float
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import row
from paddle._program.running.host import Host

if TYPE_CHECKING:
    from paddle._program.lowering.taped import Taped

Gradient = Any
"""An array, or of an array of tensors a list of arrays, None where nothing has come."""


class Slopes:
    """Gradients by name, of what names stand for at one step of the way back. ``kept``: names whose gradients
    are wanted; ``last``: of those, what came to what they stood for last."""

    def __init__(self, kept: Collection[str], stopped: Collection[str]) -> None:
        self._kept, self.stopped = frozenset(kept), frozenset(stopped)
        self._now: dict[str, Gradient] = {}
        self.last: dict[str, np.ndarray] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._now

    def take(self, name: str) -> Gradient:
        """The gradient of what was written here, None if there is none: before, the name stood for something
        else."""
        found = self._now.pop(name, None)
        if found is not None:
            self.keep(name, found)
        return found

    def keep(self, name: str, gradient: Gradient) -> None:
        """Remember a gradient that is wanted; the first that comes is of what was written last."""
        if name in self._kept:
            self.last.setdefault(name, gradient)

    def add(self, name: str, gradient: Gradient) -> None:
        """Add to the gradient of a name, elementwise; of an array of tensors, a list of as many."""
        was = self._now.get(name)
        if isinstance(gradient, list):
            self._now[name] = _summed(was or [], gradient)
        else:
            total = gradient if was is None else was + gradient
            self._now[name] = np.asarray(total) if isinstance(total, np.generic) else total  # of no axes

    def wanted(self, name: str) -> Gradient:
        """The gradient of a name in the end, None if there is none."""
        return self.last.get(name, self._now.get(name))


def _summed(a: list[Any], b: list[Any]) -> list[Any]:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    more = [*shorter, *([None] * (len(longer) - len(shorter)))]
    return [
        y if x is None else x if y is None else np.asarray(x) + np.asarray(y)
        for x, y in zip(longer, more, strict=True)
    ]


@dataclass(slots=True)
class Done:
    """A host operator that was run, with what it has read and given."""

    op: Operator
    read: dict[str, Any]
    given: dict[str, Any]

    def input(self, slot: str) -> Any:
        """What was in an input slot."""
        return self.read.get(self.op.input(slot)[0])

    def inputs(self, slot: str) -> list[Any]:
        """All that was in an input slot."""
        return [self.read.get(name) for name in self.op.input(slot)]

    def outputs(self, slot: str) -> list[Any]:
        """All that was given in an output slot."""
        return [self.given.get(name) for name in self.op.output(slot)]

    def add(self, slopes: Slopes, slot: str, gradient: Gradient, index: int = 0) -> None:
        """Add to the gradient of what is in an input slot, where one is wanted."""
        name = self.op.input(slot)[index]
        described = self.op.block._find_var_recursive(name)
        stops = described is not None and (described.stop_gradient or not is_float(described.dtype))
        if not stops and name not in slopes.stopped:
            slopes.add(name, gradient)

    def back(self, slopes: Slopes) -> None:
        """Take the gradients of what it gave back to what it read."""
        if not any(name in slopes for name in self.op.output_arg_names):
            return
        rule = row(self.op.type).back
        if rule is None:
            raise BadProgram(
                f"operator {self.op.type!r} (written at {self.op.where}) lies between the loss and what is "
                "learned, and no gradient goes back through it in this release: compute it otherwise, or set "
                "stop_gradient of its output to True"
            )
        rule(self, slopes)


class Tape:
    """See the module's text."""

    def __init__(self) -> None:
        self._done: list[Callable[[Taped, Slopes], None]] = []

    def ran(self, back: Callable[[Taped, Slopes], None]) -> None:
        """A segment is about to be run; ``back`` takes gradients back through it."""
        self._done.append(back)

    def does(self, op: Operator, host: Host, rule: Callable[[Host, Operator], None]) -> None:
        """Run a host operator."""
        read = _held(host, op.input_arg_names)
        rule(host, op)
        done = Done(op, read, _held(host, op.output_arg_names))
        self._done.append(lambda taped, slopes: done.back(slopes))

    def back(self, taped: Taped, slopes: Slopes) -> None:
        """Take gradients back to where the run began."""
        for back in reversed(self._done):
            back(taped, slopes)


def _held(host: Host, names: Collection[str]) -> dict[str, Any]:
    """Arrays of tensors are written to further on: what is in them stays as it is."""
    found = {name: host.get(name) for name in names if host.has(name)}
    return {name: list(value) if isinstance(value, list) else value for name, value in found.items()}
