"""Overlap: the steps by which a plan speaks with an exchange that works while the trainer computes.

1.  A gradient is given after the operator that writes it: nobody changes it until the next run (memory.py).
2.  A parameter is settled before the first operator that reads it, and before the first that does so after
    an exchange has it in hand again.
3.  Everything is settled before the first operator that writes a gradient that leaves, which may still have
    to be sent again until then.
4.  What is fetched is settled at the end.
5.  Before the same operator a step begins: the one before may have failed midway.

It must never know what an operator computes. Guarantee: no operator reads a parameter that is being changed,
and none writes a gradient that is being sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from paddle._engine.exchange import Stepping, SteppingAhead
from paddle._engine.program import Operator, Program
from paddle._engine.registry import Step

StepsOf = Callable[[Operator], Iterable[Step]]


class NoOverlap:
    """What a plan does for an exchange that does all of a step at once."""

    def steps(self, operators: Sequence[Operator], of: StepsOf) -> Iterator[tuple[Step, Operator]]:
        """All steps of a run, each with the operator that it is for; ``of``: those of one operator."""
        for operator in operators:
            yield from ((step, operator) for step in self.around(operator, of(operator)))

    def around(self, operator: Operator, steps: Iterable[Step]) -> Iterator[Step]:
        """The steps of an operator, and what the exchange is asked and told before and after them."""
        yield from steps

    def last(self, fetch: Collection[str]) -> Iterator[Step]:
        """What a run does after all operators, before it copies what is fetched."""
        return iter(())


class Overlap(NoOverlap):
    """See the module's text. ``parameters``: names of all; ``fixed``: the arrays of a plan that stay, those
    of dense gradients among them, by variable."""

    def __init__(
        self,
        exchange: SteppingAhead,
        operators: Sequence[Operator],
        parameters: Collection[str],
        fixed: Mapping[str, np.ndarray],
    ) -> None:
        self._exchange = exchange
        self._parameters = parameters
        self._fixed = fixed
        self._leaving = {
            gradient: parameter
            for operator in operators
            if operator.type == "exchange"
            for parameter, gradient in zip(operator.inputs["Param"], operator.inputs["Grad"], strict=True)
            if gradient in fixed
        }
        self._settled: set[str] = set()
        self._has_begun = False

    def around(self, operator: Operator, steps: Iterable[Step]) -> Iterator[Step]:
        """See NoOverlap. To be asked for each operator, in their order."""
        yield from self._before(operator)
        yield from steps
        for name in operator.writes():
            if name in self._leaving:
                yield partial(self._exchange.give, self._leaving[name], self._fixed[name])

    def _before(self, operator: Operator) -> Iterator[Step]:
        if operator.role == "exchange":
            self._settled.clear()
            self._has_begun = False
            return
        if not self._has_begun and not self._leaving.keys().isdisjoint(operator.writes()):
            self._has_begun = True
            yield self._exchange.settle
            yield self._exchange.begin_step
        yield from self._settle(operator.reads())

    def last(self, fetch: Collection[str]) -> Iterator[Step]:
        """See NoOverlap."""
        yield from self._settle(fetch)

    def _settle(self, names: Iterable[str]) -> Iterator[Step]:
        needed = {name for name in names if name in self._parameters} - self._settled
        if needed:
            self._settled |= needed
            yield partial(self._exchange.settle, frozenset(needed))


def overlap_of(
    exchange: Stepping | None,
    program: Program,
    operators: Sequence[Operator],
    fixed: Mapping[str, np.ndarray],
) -> NoOverlap:
    """What a plan for ``exchange`` does; see Overlap."""
    if not isinstance(exchange, SteppingAhead):
        return NoOverlap()
    parameters = frozenset(parameter.name for parameter in program.parameters())
    return Overlap(exchange, operators, parameters, fixed)
