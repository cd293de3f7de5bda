"""What a benchmark is: contenders, the cases in which they meet, the goals that are stated beside each case.

Declarations only: nothing here measures, starts or prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.goal import Goal


@dataclass(frozen=True, slots=True)
class Contender:
    """One way of doing the work, in a process of its own.

    ``module`` has ``prepare(settings) -> Work`` (see :mod:`benchmarks.worker`). ``needs`` are modules that
    may be missing; then the contender is left out, and ``how_to_get`` is told to the reader. One that
    ``is_long`` is left out of a quick run. One that needs another Python names the option that says which
    (``interpreter``): ``module`` is imported there, and this project's runtime is not; one that
    ``is_held_here`` starts processes of that Python instead, which the environment names
    (``contender_process.PEER_PYTHON``). One that has ``own_threads`` makes those of a case itself, each with
    one for linear algebra.
    """

    name: str
    module: str
    needs: tuple[str, ...] = ()
    how_to_get: str = ""
    is_long: bool = False
    interpreter: str = ""
    own_threads: bool = False
    is_held_here: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One piece of work that all contenders do, and what is expected of the outcome.

    One ``unit`` of work (a step, an exchange) moves ``volume`` of ``volume_unit`` (GB, samples). ``settings``
    are handed to every contender as they stand. Contenders must reach the same answer up to the relative
    ``tolerance``. One that ``is_long`` is left out of a quick run. ``contenders``: the names of those that
    can do it, all if empty. ``threads``: how many a contender's arithmetic is given.
    """

    name: str
    unit: str
    volume: float
    volume_unit: str
    settings: Mapping[str, object]
    goals: tuple[Goal, ...] = ()
    tolerance: float = 1e-3
    is_long: bool = False
    contenders: tuple[str, ...] = ()
    threads: int = 1

    def takes(self, contender: Contender) -> bool:
        """Whether a contender can do it."""
        return not self.contenders or contender.name in self.contenders


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Contenders and cases; the first contender is the one that all ratios are shown against.

    ``rounds``: of a run that is not quick. Where it ``shows_memory`` each case has processes of its own, so
    that the most memory that a contender had is that case's, is shown, and can be judged; there only may
    cases differ in their contenders and threads.
    """

    name: str
    title: str
    contenders: tuple[Contender, ...]
    cases: tuple[Case, ...]
    rounds: int = 15
    shows_memory: bool = False

    def on(self, generation: str) -> Benchmark:
        """The same with what goals come to on a processor of this kind."""
        cases = [
            replace(case, goals=tuple(goal.on(generation) for goal in case.goals)) for case in self.cases
        ]
        return replace(self, cases=tuple(cases))

    @property
    def baseline(self) -> str:
        """Name of the contender whose figures are 1.00."""
        return self.contenders[0].name
