"""``profile``: training steps with no profile on, with one that is left on, and with one of every run."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal
from benchmarks.models import BENCHMARK as MODELS

_OFF, _LEFT_ON, _EVERY_RUN = "off", "left on", "every run"


def _at_most(contender: str, bound: float) -> Goal:
    return Goal(contender=contender, against=_OFF, quantity="cpu", at_most=bound)


def _case(model: str, batch: int, left_on: float, every_run: float) -> Case:
    """The step of ``models`` on one thread, by plain descent."""
    wanted = {"model": model, "batch": batch, "rule": "sgd", "threads": 1}
    (found,) = (case for case in MODELS.cases if wanted.items() <= case.settings.items())
    goals = _at_most(_LEFT_ON, left_on), _at_most(_EVERY_RUN, every_run)
    return replace(found, goals=goals, contenders=(), is_long=model == "lstm" or batch > 512)


BENCHMARK = Benchmark(
    name="profile",
    title="one training step with and without a profile",
    contenders=(
        Contender(_OFF, "benchmarks.models.engine", own_threads=True),
        Contender(_LEFT_ON, "benchmarks.profile.left_on", own_threads=True),
        Contender(_EVERY_RUN, "benchmarks.profile.every_run", own_threads=True),
    ),
    cases=(  # steps of 1 ms or more first
        _case("word2vec", 32, 1.03, 1.05),
        _case("word2vec", 1024, 1.03, 1.05),
        _case("ctr", 512, 1.03, 1.05),
        _case("lstm", 64, 1.03, 1.05),
        _case("mlp", 128, 1.04, 1.15),
        _case("regression", 20, 1.06, 2.6),
    ),
)
