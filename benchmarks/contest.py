"""A run of a benchmark: contenders prepared, warmed, measured in turns; answers compared, goals judged.

A contender that is missing a module, fails or answers differently from the first one drops out of the case; a
failure or a different answer makes the run fail, a missing module does not.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.contender_process import ContenderError, ContenderProcess
from benchmarks.environment import threads
from benchmarks.goal import Verdict, judge
from benchmarks.samples import Sample, take_turns


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to measure: rounds, seconds that one sample of one contender lasts, and whether long cases are
    left out."""

    rounds: int
    sample_s: float
    is_quick: bool = False


QUICK = Pace(rounds=5, sample_s=0.15, is_quick=True)
FULL = Pace(rounds=15, sample_s=0.5)


@dataclass(slots=True)
class Outcome:
    """What a run says of one case. ``counts``: units of work in a sample. ``failures``: what went wrong."""

    case: Case
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """What a run says. ``libraries``: in each contender's process. ``missing``: how to get those left out."""

    benchmark: Benchmark
    pace: Pace
    libraries: dict[str, Mapping[str, str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """No failure, and no stated goal missed but for those that are known to be, by no more than that."""
        return not any(
            outcome.failures or any(verdict.fails for verdict in outcome.verdicts)
            for outcome in self.outcomes
        )

    @property
    def known_misses(self) -> int:
        """How many aims were missed that are known to be."""
        return sum(verdict.met is False and not verdict.fails for verdict in self._verdicts)

    @property
    def stale_excuses(self) -> int:
        """How many aims were met that are known to be missed."""
        return sum(verdict.is_stale for verdict in self._verdicts)

    @property
    def _verdicts(self) -> list[Verdict]:
        return [verdict for outcome in self.outcomes for verdict in outcome.verdicts]


def hold(
    benchmark: Benchmark,
    pace: Pace,
    environment: Mapping[str, str],
    on_outcome: Callable[[Report, Outcome], None],
    pythons: Mapping[str, str] = MappingProxyType({}),
) -> Report:
    """Run all cases; ``on_outcome`` hears of each as soon as it is known.

    ``pythons``: those of contenders that need another one, by the name that they have for it.
    """
    asked = [c for c in benchmark.contenders if not (c.is_long and pace.is_quick)]
    present = [each for each in asked if not missing_modules(each, pythons.get(each.interpreter, ""))]
    report = Report(benchmark, pace)
    report.missing = {c.name: c.how_to_get for c in asked if c not in present}
    cases = [case for case in benchmark.cases if not (case.is_long and pace.is_quick)]
    for group in [[case] for case in cases] if benchmark.shows_memory else [cases]:
        with ExitStack() as stack:
            playing = [each for each in present if not benchmark.shows_memory or group[0].takes(each)]
            processes = [
                stack.enter_context(
                    ContenderProcess(
                        each,
                        {**environment, **threads(1 if each.own_threads else group[0].threads)},
                        pythons.get(each.interpreter, ""),
                    )
                )
                for each in playing
            ]
            for case in group:
                outcome = _play(case, processes, report)
                report.outcomes.append(outcome)
                on_outcome(report, outcome)
    return report


def missing_modules(contender: Contender, python: str = "") -> list[str]:
    """Of the modules that a contender needs, those not installed, in its own ``python`` if it needs one."""
    if not contender.interpreter:
        return [module for module in contender.needs if importlib.util.find_spec(module) is None]
    return [module for module in contender.needs if not python or not _has(python, module)]


def _has(python: str, module: str) -> bool:
    looks = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    try:
        return subprocess.run([python, "-I", "-c", looks, module], capture_output=True).returncode == 0
    except OSError:
        return False


def _play(case: Case, processes: Sequence[ContenderProcess], report: Report) -> Outcome:
    outcome = Outcome(case)
    ready = _prepare(case, processes, report, outcome)
    for process in list(ready):
        try:
            outcome.counts[process.name] = _warm(process, report.pace.sample_s)
        except ContenderError as error:
            outcome.failures.append(str(error))
            ready.remove(process)
    measures = {process.name: partial(process.sample, outcome.counts[process.name]) for process in ready}
    try:
        outcome.samples = take_turns(measures, report.pace.rounds)
        for process in ready:
            peak = process.check()
            samples = outcome.samples[process.name]
            outcome.samples[process.name] = [replace(sample, peak=peak) for sample in samples]
    except ContenderError as error:
        outcome.failures.append(str(error))
    outcome.verdicts = [judge(goal, outcome.samples) for goal in case.goals]
    return outcome


def _prepare(
    case: Case, processes: Sequence[ContenderProcess], report: Report, outcome: Outcome
) -> list[ContenderProcess]:
    """Prepare all contenders at once; returns those that are ready and agree with the first."""
    for process in processes:
        process.tell({"do": "prepare", "settings": dict(case.settings)})
    answers: dict[str, float | None] = {}
    for process in processes:
        try:
            answer = process.hear()
        except ContenderError as error:
            outcome.failures.append(str(error))
            continue
        answers[process.name] = answer["answer"]
        process.block = int(str(answer["block"]))
        report.libraries[process.name] = answer["libraries"]
    odd = disagreements(answers, case.tolerance)
    outcome.failures.extend(odd.values())
    return [process for process in processes if process.name in answers and process.name not in odd]


def disagreements(answers: Mapping[str, float | None], tolerance: float) -> dict[str, str]:
    """Contenders whose answer differs from the first one's, each with the sentence that says so."""
    given = {name: answer for name, answer in answers.items() if answer is not None}
    first, expected = next(iter(given.items()), ("", 0.0))
    return {
        name: f"{name}: answers {value:.7g} where {first} answers {expected:.7g}: not the same work"
        for name, value in given.items()
        if not math.isclose(value, expected, rel_tol=tolerance)
    }


def _warm(process: ContenderProcess, sample_s: float) -> int:
    """Run until the pace is known; returns how many units, in whole blocks, last about ``sample_s``."""
    count = process.block
    while True:
        wall_s = process.sample(count).wall_s
        if wall_s * count >= sample_s / 4:
            return max(1, round(sample_s / (wall_s * process.block))) * process.block
        count *= 2
