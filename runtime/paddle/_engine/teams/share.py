"""A share: what a thread of a team takes for its exchange, while one exchange is there for all of them.

Rules:
1. The exchange hears of a step once, from the thread of part 0, which leads.
2. Gradients of a parameter are added up in order of the parts, as soon as all have them, by whoever was last;
   so equal parts give equal bits. The sum lies where part 0 computed its own. What all have computed
   together (joint.py) lies there as it is.
3. No part reads a parameter before the leader has settled it.

It must never know a program. Guarantee: the exchange is told what it would be told of the whole batch, but
for the order in which samples were added up, and that in which rows are listed.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from paddle._engine.exchange import Lending, Stepping, SteppingAhead, StepReport
from paddle._engine.program import Shape
from paddle._engine.rows import SparseRows, each_once
from paddle._engine.teams.joint import Joint, pays
from paddle._engine.teams.meeting import Meeting

Gradients = Mapping[str, np.ndarray | SparseRows]
Ids = Mapping[str, np.ndarray]
Given = tuple[Gradients, int, float | None]
"""What a part gives at its end: see Stepping.step."""


class Common:
    """What the shares of a team have in common: the ``exchange``, and where they ``meet``."""

    def __init__(self, exchange: Stepping | None) -> None:
        self.meeting = Meeting()
        self.exchange = exchange
        self.ahead = exchange if isinstance(exchange, SteppingAhead) else None
        self.adding = threading.Lock()
        self.lent = exchange.lent() if isinstance(exchange, Lending) and self.ahead is None else {}
        self.products: defaultdict[str, Joint] = defaultdict(Joint)
        self.begin(1, 0)

    def begin(self, count: int, samples: int) -> None:
        """A run of ``count`` parts and so many samples begins."""
        self.meeting.begin(count)
        self.samples = samples
        self.made: set[str] = set()
        self.left: set[int] = set()
        self._given: dict[str, dict[int, np.ndarray]] = {}
        self._added: list[tuple[str, np.ndarray]] = []

    def add(self, number: int, name: str, gradient: np.ndarray) -> None:
        """Take the gradient of a part; the last one to come adds up those of all."""
        with self.adding:
            parts = self._given.setdefault(name, {})
            parts[number] = gradient
            is_last = len(parts) == self.meeting.count
        if is_last:
            total = parts[0]
            for part in range(1, 1 if name in self.made else len(parts)):
                np.add(total, parts[part], out=total)
            with self.adding:
                self._added.append((name, total))

    def give(self) -> None:
        """Give the exchange what has been added up by now."""
        with self.adding:
            added, self._added = self._added, []
        if self.ahead is not None:
            for name, total in added:
                self.ahead.give(name, total)

    def commit(self, parts: list[Given]) -> list[StepReport]:
        """All parts are computed."""
        assert self.exchange is not None
        self.give()
        samples, rate = sum(count for _, count, _ in parts), parts[0][2]
        gradients = {name: _whole([part[name] for part, _, _ in parts]) for name in parts[0][0]}
        if self.ahead is not None:
            self.ahead.commit(gradients, samples, rate=rate)
            return [StepReport(0)] * len(parts)
        return [self.exchange.step(gradients, samples, rate=rate)] * len(parts)

    def prefetch(self, parts: list[Ids]) -> list[None]:
        """All parts are about to use these rows."""
        assert self.exchange is not None
        ids = {name: np.concatenate([part[name].reshape(-1) for part in parts]) for name in parts[0]}
        self.exchange.prefetch(ids)
        return [None] * len(parts)

    def lookup(self, parts: list[Ids], training: bool) -> list[Ids]:
        """The rows of open tables that each part asks for; the exchange is asked for each row once."""
        assert self.exchange is not None
        asked = {name: each_once(np.concatenate([part[name] for part in parts])) for name in parts[0]}
        rows = self.exchange.lookup(asked, training=training)
        return [
            {name: rows[name][np.searchsorted(asked[name], ids)] for name, ids in p.items()} for p in parts
        ]


class Share:
    """The :class:`paddle._engine.exchange.SteppingAhead` of part ``number``, and its ``Joining``."""

    def __init__(self, number: int, common: Common) -> None:
        self.number = number
        self._common = common

    @property
    def count(self) -> int:
        """See Joining."""
        return self._common.meeting.count

    @property
    def samples(self) -> int:
        """See Joining."""
        return self._common.samples

    def joint(self, parameters: Mapping[str, Shape]) -> Mapping[str, float | None]:
        """See Joining."""
        if self.count == 1:
            return {}
        lent, samples = self._common.lent, self.samples
        return {name: lent.get(name) for name, shape in parameters.items() if pays(shape, samples)}

    def product(self, parameter: str) -> Joint:
        """See Joining."""
        with self._common.adding:
            return self._common.products[parameter]

    def meet(self, brought: Any, act: Callable[[list[Any]], object]) -> None:
        """See Joining."""

        def acted(parts: list[Any]) -> list[None]:
            act(parts)
            return [None] * len(parts)

        self._common.meeting.meet(self.number, brought, acted)

    def made(self, parameter: str) -> None:
        """See Joining."""
        self._common.made.add(parameter)

    def rate(self) -> float:
        """See Joining."""
        assert isinstance(self._common.exchange, Lending)
        return self._common.exchange.rate(self.samples)

    def prefetch(self, rows: Ids) -> None:
        """See Stepping."""
        self._common.meeting.meet(self.number, rows, self._common.prefetch)

    def lookup(self, ids: Ids, *, training: bool) -> Ids:
        """See Stepping."""
        found: Ids = self._common.meeting.meet(
            self.number, ids, lambda parts: self._common.lookup(parts, training)
        )
        return found

    def step(self, gradients: Gradients, samples: int, *, rate: float | None = None) -> StepReport:
        """See Stepping."""
        for name, gradient in gradients.items():
            if isinstance(gradient, np.ndarray):
                self._common.add(self.number, name, gradient)
        given: Given = (gradients, samples, rate)
        report: StepReport = self._common.meeting.meet(self.number, given, self._common.commit)
        return report

    def begin_step(self) -> None:
        """See SteppingAhead."""
        if not self.number and self._common.ahead is not None:
            self._common.ahead.begin_step()

    def give(self, name: str, gradient: np.ndarray) -> None:
        """See SteppingAhead."""
        self._common.add(self.number, name, gradient)
        if not self.number:
            self._common.give()

    def commit(self, gradients: Gradients, samples: int, *, rate: float | None = None) -> None:
        """See SteppingAhead. All that is dense was given. Others than the leader do not wait for what becomes
        of it, unless they go on to read a parameter."""
        given: Given = (gradients, samples, rate)
        self._common.left.add(self.number)
        self._common.meeting.leave(self.number, given, self._common.commit)
        if not self.number and self._common.ahead is None:
            self._common.meeting.tell(self._words(None))

    def settle(self, names: Collection[str] | None = None) -> StepReport:
        """See SteppingAhead."""
        report, ahead, meeting = StepReport(0), self._common.ahead, self._common.meeting
        if ahead is not None and not self.number:
            report = ahead.settle(names)
            meeting.tell(self._words(names))
        elif (ahead is not None or self.number in self._common.left) and names is not None and self.number:
            # of gradients only those of part 0 are ever under way
            meeting.hear(self._words(names), *self._words(None))
        return report

    def _words(self, names: Collection[str] | None) -> Collection[str]:
        """What is told of parameters that are settled, of all if None: before the commit, or behind it."""
        when = "then" if self.number in self._common.left else "now"
        return [when] if names is None else [f"{when} {name}" for name in names]


def _whole(parts: list[np.ndarray | SparseRows]) -> np.ndarray | SparseRows:
    """The gradient of the batch: the sum, which is where part 0 was, or the rows of all parts."""
    rows = [part for part in parts if isinstance(part, SparseRows)]
    return SparseRows.concatenate(rows) if rows else parts[0]
