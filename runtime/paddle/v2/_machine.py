"""The gradient machine of a trainer: what its layers gave for the last batch, and the gradients of it.

Nothing is kept until somebody asks. What is asked for the first time is computed again from the batch, with
what was dropped in it; what was asked once is fetched in every step from then on. It must never know an
event.

Guarantee: it is of the parameters before the batch's step. But what is asked for the first time, of another
batch than a trainer's first one, is of those behind the step; so are tables of rows, and networks of more
than ``_MOST`` bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from paddle._absent import AbsentName
from paddle._engine import registry
from paddle._engine.program import Block, Operator, Parameter, Program, Variable
from paddle._engine.scope import Scope
from paddle._engine.teams.team import Team
from paddle.v2._errors import WrongCall
from paddle.v2._feeding.parts import parts
from paddle.v2._lowering.network import Network
from paddle.v2._lowering.output import Output
from paddle.v2._pool import Pool

__all__ = ["GradientMachine"]

Feed = Mapping[str, np.ndarray]
_MOST = 1 << 28
"""Bytes of parameters that are copied, so that a trainer's first batch can be computed again from them."""


class Batch(NamedTuple):
    """What was trained on last, and what was drawn then."""

    feed: Feed
    samples: int
    drawn: Mapping[str, int]
    before: Mapping[str, np.ndarray]


class GradientMachine:
    """``event.gm``: ``getLayerOutputs`` of what the original has; other names are absent, and say so."""

    def __init__(self, pool: Pool, threads: int) -> None:
        self._pool, self._threads = pool, threads
        self._found: dict[str, np.ndarray] = {}
        self._batch: Batch | None = None

    def _read(self, net: Network, pairs: Sequence[tuple[Parameter, Variable]]) -> None:
        """From now on it is of this network, of which ``pairs`` are trained."""
        self._names = [each.name for each in net.program.parameters() if each.name in self._pool]  # no masks
        self._outputs, self._program = net.outputs, net.program
        self._gradients = {parameter.name: gradient for parameter, gradient in pairs}
        self._kept: dict[str, Variable] = {}
        self._found = {}  # variables of another network may have the same names
        if self._batch is not None:
            self._batch = self._batch._replace(feed=net.fitted(self._batch.feed))

    def getLayerOutputs(  # noqa: N802  (the original's name)
        self, layerNames: str | Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """What layers gave for the last batch that was trained on: {"value": numbers or None, "id": integers
        or None} of each, by its name. Rows of sequences lie one after another."""
        names = [layerNames] if isinstance(layerNames, str) else list(layerNames)
        fields = {name: self._fields(name) for name in names}
        found = self._values([variable for each in fields.values() for variable in each.values()])
        return {
            name: {field: found[each[field].name] if field in each else None for field in ("value", "id")}
            for name, each in fields.items()
        }

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AbsentName(
            f"event.gm.{name} is not in this release: event.gm has getLayerOutputs(names), and "
            "Parameters.get and get_grad read parameters"
        )

    def _fields(self, name: str) -> dict[str, Variable]:
        output = self._outputs.get(name, Output())
        fields = {field: getattr(output, field) for field in ("value", "id")}
        there = {field: variable for field, variable in fields.items() if variable is not None}
        if not there:
            known = ", ".join(each for each, made in self._outputs.items() if made.value or made.id)
            raise WrongCall(
                f"event.gm.getLayerOutputs: no layer {name!r} whose output could be read; there are {known} "
                "(what is inside of a recurrent group, or is fed sparsely, is not)"
            )
        return there

    def _gradient(self, name: str) -> np.ndarray:
        """The gradient of a parameter for the last batch, summed over its samples; of one that nobody trains,
        and before the first batch, 0."""
        variable = self._gradients.get(name)
        if variable is None or self._batch is None:
            return np.zeros(self._pool.shape(name), np.float32)
        return self._values([variable])[variable.name]

    def _values(self, wanted: Sequence[Variable]) -> Mapping[str, np.ndarray]:
        if self._batch is None:
            raise WrongCall("event.gm has no outputs before the first batch was trained on")
        new = {each.name: each for each in wanted if each.name not in self._found}
        if new:
            self._found |= self._again(self._batch, new)
            self._kept |= new
        return {each.name: self._found[each.name].copy() for each in wanted}

    def _again(self, batch: Batch, wanted: Mapping[str, Variable]) -> dict[str, np.ndarray]:
        """Compute the last batch again, where nothing that training needs is changed."""
        self._pool.current(self._names)  # nothing is under way to them any more
        main, scope = self._program.main, Scope()
        moved = [name for op in main.operators if op.role == "forward" for name in _changed_by(op)]
        own = {name: self._pool.scope.get(name).copy() for name in moved if name not in batch.before}
        scope.bind({**dict(self._pool.scope.items()), **batch.before, **own})
        rest = [op for op in main.operators if op.type != "exchange"]
        program = Program([Block(dict(main.variables), rest), *self._program.blocks[1:]])
        fetch = list(wanted.values())
        team = Team(scope, self._threads)
        cut = parts(batch.feed, batch.samples, team.parts_for(program, batch.feed, batch.samples))
        return self._joined(wanted, team.run(program, cut, fetch, **batch.drawn))

    # What the training says.

    def _begin(self, feed: Feed, samples: int, drawn: Mapping[str, int]) -> list[Variable]:
        """A step begins; gives what it is to fetch."""
        before: dict[str, np.ndarray] = {}
        if self._batch is None:
            arrays = [(name, self._pool[name]) for name in self._names if not self._is_table(name)]
            if sum(array.nbytes for _, array in arrays) <= _MOST:
                before = {name: array.copy() for name, array in arrays}
        self._found = {}
        self._batch = Batch(feed, samples, drawn, before)
        return list(self._kept.values())

    def _end(self, shares: Sequence[Sequence[np.ndarray]]) -> None:
        """A step has ended, and each part of its batch gave these."""
        summed = {v.name for name, v in self._gradients.items() if not self._is_table(name)}
        self._found = self._joined(self._kept, shares, summed)

    def _joined(
        self,
        names: Iterable[str],
        shares: Sequence[Sequence[np.ndarray]],
        summed: Collection[str] = (),
    ) -> dict[str, np.ndarray]:
        """Of the whole batch what each part gave. ``summed``: gradients that the first part gave of the whole
        batch (Team.run)."""
        gradients = {variable.name for variable in self._gradients.values()}

        def whole(name: str, parts: Sequence[np.ndarray]) -> np.ndarray:
            if name in summed:
                return parts[0]
            return np.sum(parts, axis=0) if name in gradients else np.concatenate(parts)

        found = zip(names, zip(*shares, strict=True), strict=True)
        return {name: whole(name, parts) for name, parts in found}

    def _is_table(self, name: str) -> bool:
        return bool(self._pool.config(name).sparse_update)


def _changed_by(op: Operator) -> list[str]:
    return [name for slot in registry.row(op.type).changes(op.attrs) for name in op.inputs[slot]]
