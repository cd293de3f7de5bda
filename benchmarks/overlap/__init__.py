"""``overlap``: training steps over a slow link, done one thing after another and at the same time."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_AFTER, _OVERLAP = "one after another", "overlapping"


def _case(name: str, megabits: int, batch: int, *goals: Goal) -> Case:
    return Case(
        name=name,
        unit="step",
        volume=batch,
        volume_unit="sample",
        settings={"layers": 4, "width": 704, "batch": batch, "megabits": megabits},
        goals=goals,
        tolerance=0.0,
    )


BENCHMARK = Benchmark(
    name="overlap",
    title="steps of 4 layers of 704 x 704 with one pserver, through a link of so many bits a second",
    contenders=(
        Contender(_AFTER, "benchmarks.overlap.one_after_another"),
        Contender(_OVERLAP, "benchmarks.overlap.overlapping"),
    ),
    cases=(
        _case(
            "computing and sending take about as long",
            1000,
            512,
            Goal(contender=_OVERLAP, against=_AFTER, quantity="wall", at_most=0.85),
        ),
        _case(
            "a small batch: sending takes longer",
            1000,
            64,
        ),
        _case("no limit", 0, 512),
    ),
)
