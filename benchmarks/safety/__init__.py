"""``safety``: what it costs an honest trainer that its job encrypts, and that other peers are slow."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_ALONE, _TLS, _SLOW = "alone, TCP", "alone, TLS", "20 slow readers, TCP"


def _case(name: str, floats: int, *goals: Goal) -> Case:
    return Case(
        name=name,
        unit="exchange",
        volume=2 * 4 * floats / 1e9,
        volume_unit="GB",
        settings={"floats": floats},
        goals=goals,
        tolerance=0.0,
    )


BENCHMARK = Benchmark(
    name="safety",
    title="a gradient out, applied at once, parameters back; asynchronous, on one machine, one trainer of 21",
    contenders=(
        Contender(_ALONE, "benchmarks.safety.alone"),
        Contender(_SLOW, "benchmarks.safety.slow_readers"),
        Contender(_TLS, "benchmarks.safety.encrypted"),
    ),
    cases=(
        _case(
            "4 MiB each way",
            1 << 20,
            Goal(contender=_SLOW, against=_ALONE, quantity="speed", at_least=0.80),
            Goal(contender=_TLS, against=_ALONE, quantity="cpu", at_most=2.75),
        ),
        _case(
            "1 KiB each way",
            256,
            Goal(contender=_SLOW, against=_ALONE, quantity="speed", at_least=0.80),
            Goal(contender=_TLS, against=_ALONE, quantity="cpu", at_most=2.0),
        ),
    ),
)
