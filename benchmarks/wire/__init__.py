"""``wire``: a gradient out and parameters back over a slow link, in all numbers in which gradients travel."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_PLAIN, _BFLOAT16, _FLOAT16, _TOPK = "float32", "bfloat16", "float16", "topk 1 %"
_BOTH, _TOPK_BOTH = "bfloat16 both ways", "topk 1 %, bfloat16 back"


def _case(name: str, floats: int, megabits: int, *goals: Goal) -> Case:
    return Case(
        name=name,
        unit="exchange",
        volume=2 * 4 * floats / 1e9,
        volume_unit="GB of float32",
        settings={"floats": floats, "megabits": megabits},
        goals=goals,
        tolerance=0.0,
    )


BENCHMARK = Benchmark(
    name="wire",
    title="a gradient out, one step applied, parameters back; through a link of so many bits a second",
    contenders=(
        Contender(_PLAIN, "benchmarks.wire.float32"),
        Contender(_BFLOAT16, "benchmarks.wire.bfloat16"),
        Contender(_FLOAT16, "benchmarks.wire.float16"),
        Contender(_TOPK, "benchmarks.wire.topk"),
        Contender(_BOTH, "benchmarks.wire.both_ways"),
        Contender(_TOPK_BOTH, "benchmarks.wire.topk_both_ways"),
    ),
    cases=(
        _case(
            "16 MiB each way, 1 Gbit/s",
            4 << 20,
            1000,
            Goal(contender=_BFLOAT16, against=_PLAIN, quantity="wall", at_most=0.85),
            Goal(contender=_FLOAT16, against=_PLAIN, quantity="wall", at_most=0.90),
            Goal(contender=_TOPK, against=_PLAIN, quantity="wall", at_most=0.75),
            Goal(contender=_BOTH, against=_PLAIN, quantity="wall", at_most=0.65),
            Goal(contender=_TOPK_BOTH, against=_PLAIN, quantity="wall", at_most=0.50),
        ),
        _case(
            "4 MiB each way, 100 Mbit/s",
            1 << 20,
            100,
            Goal(contender=_BFLOAT16, against=_PLAIN, quantity="wall", at_most=0.90),
            Goal(contender=_FLOAT16, against=_PLAIN, quantity="wall", at_most=0.90),
            Goal(contender=_TOPK, against=_PLAIN, quantity="wall", at_most=0.60),
            Goal(contender=_BOTH, against=_PLAIN, quantity="wall", at_most=0.60),
            Goal(contender=_TOPK_BOTH, against=_PLAIN, quantity="wall", at_most=0.35),
        ),
        _case("16 MiB each way, no limit", 4 << 20, 0),
    ),
)
