"""What was taken forwards, and the way back: segments of a block that are run, and gradients that go back
through them.

It must never know a host operator. Guarantee: a segment that no gradient goes back through is run as if there
were no way back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paddle._program.description.block import Block, reads_of
from paddle._program.description.operator import BACKWARD
from paddle._program.errors import NotInitialized
from paddle._program.lowering.segments import ONCE, Piece
from paddle._program.lowering.states import noted
from paddle._program.lowering.taped import GIVEN, READ, WRITTEN, Taped, WayBack
from paddle._program.lowering.updates import is_update
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.segment_run import Values
from paddle._program.running.sized_run import Runner, SizedRun
from paddle._program.running.tape import Slopes, Tape


class Told(NamedTuple):
    """What a run is told. ``tape``: where what is done is noted, if gradients go back along it."""

    seed: int
    step: int
    samples: int
    tape: Tape | None


class Taken:
    """A segment that is run, and the ways back through it, one for each set of gradients that come."""

    def __init__(self, piece: Piece, block: Block, runner: Runner) -> None:
        self._run, self._runner, self._states = SizedRun(piece, block, runner), runner, piece.states
        self._tells, self._says = piece.tells, piece.says
        self._fed, self._recalled = piece.fed | set(piece.states), piece.own[0] if piece.is_recalled else None
        ops = [(place, block.ops[place]) for place in piece.own]
        forward = [(place, op) for place, op in ops if op.role != BACKWARD and not is_update(op)]
        forward = [(place, op) for place, op in forward if op.type not in ONCE]
        self._places = tuple(place for place, _ in forward)
        self._writes = tuple(dict.fromkeys(name for _, op in forward for name in op.output_arg_names))
        reads = (name for _, op in forward for name in reads_of(op))
        # What is written, too: a branch that is not taken leaves it as it was.
        self._reads = tuple(dict.fromkeys((*reads, *self._writes)))
        self._ways: dict[object, SizedRun] = {}

    @property
    def alone(self) -> SizedRun | None:
        """All that is to be done where no gradient goes back through it; None where that is more."""
        return self._run if not self._says and self._recalled is None else None

    def __call__(self, block: Block, values: Values, told: Told) -> None:
        """Run it on the values of a run, and add what it gives."""
        for size in self._says:
            values[size.key] = np.asarray(values[size.name] if size.name in values else self._held(size.name))
        if told.tape is not None or self._recalled is not None:
            self._note(block, values, told)
        self._run(block, values, told.seed, told.step, told.samples)

    def _note(self, block: Block, values: Values, told: Told) -> None:
        """Keep what is needed to compute it again, or to go back through it."""
        states = self._noted(values)
        if self._recalled is not None:
            values.update((noted(name, self._recalled), state) for name, state in states.items())
        if told.tape is not None:
            was = {name: values[name] for name in (*self._reads, *self._tells) if name in values}
            was |= states
            told.tape.ran(lambda taped, slopes: self._back(taped, slopes, block, was, told))

    def _held(self, name: str) -> Any:
        found = self._runner.scope.value(name)
        if found is None:
            raise NotInitialized(f"variable {name!r} says a size, and has no value in this scope")
        return found

    def _noted(self, values: Values) -> dict[str, Any]:
        """The states that it is about to read, as they are."""
        found = {}
        for name in self._states:
            state = values[name] if name in values else self._runner.scope.value(name)
            if state is not None:
                found[name] = _copied(state)
        return found

    def _back(self, taped: Taped, slopes: Slopes, block: Block, was: dict[str, Any], told: Told) -> None:
        """Take gradients of what it gave back to what it ``was`` given."""
        given = {name: slopes.take(name) for name in self._writes if name in slopes}
        if not given:
            return
        key = (id(taped), *given)
        if key not in self._ways:
            piece = WayBack(self._places, self._fed, tuple(given), taped, self._tells)
            self._ways[key] = SizedRun(piece, block, self._runner)
        values = {**was, **{name + GIVEN: gradient for name, gradient in given.items()}}
        self._ways[key](block, values, *told[:3])
        for name in self._writes:
            if name + WRITTEN in values:
                slopes.keep(name, values[name + WRITTEN])
        for name in self._reads:
            if name + READ in values:
                slopes.add(name, values[name + READ])


def _copied(value: Any) -> Any:
    array = np.array(value)
    return LoDTensor(array, value.lod()) if isinstance(value, LoDTensor) else array


def go_back(taped: Taped, host: Host, told: Told) -> None:
    """Go back along what was done, and say what the gradients are."""
    assert told.tape is not None
    slopes = Slopes(taped.wanted.values(), taped.stopped)
    for target, seed in taped.seeds:
        value = np.asarray(host.get(seed)) if isinstance(seed, str) else seed
        slopes.add(target, np.array(np.broadcast_to(value, np.shape(host.get(target))), np.float32))
    told.tape.back(taped, slopes)
    for name, base in taped.wanted.items():
        found = slopes.wanted(base)
        host.values[name] = np.zeros_like(np.asarray(host.get(base))) if found is None else found
