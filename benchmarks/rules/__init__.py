"""``rules``: one update of a dense parameter on one thread, against the time that its memory alone takes."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_MEMORY, _ENGINE, _NUMPY, _TORCH = "memory", "engine", "numpy", "torch"
_LARGE, _SMALL = 16 << 20, 500_000
_PAGES = "both are bound by memory, and large pages fall to one or the other by chance"
_STATE = {"sgd": 0, "momentum": 1, "adagrad": 1, "adam": 2}


def _case(rule: str, floats: int, *goals: Goal) -> Case:
    """A step reads and writes the values and each array of the state, and reads the gradient."""
    arrays = 3 + 2 * _STATE[rule]
    return Case(
        name=f"{rule}, {floats / 1e6:.1f}M floats",
        unit="step",
        volume=4 * floats * arrays / 1e9,
        volume_unit="GB",
        settings={"rule": rule, "floats": floats, "learning_rate": 1e-3, "state": _STATE[rule]},
        goals=goals,
    )


def _faster(against: str, times: float) -> Goal:
    return Goal(contender=_ENGINE, against=against, quantity="cpu", at_most=1 / times)


def _large(rule: str, numpy: float) -> Case:
    """All are bound by memory: level with torch is the goal, and a ratio around 1 is above it or below."""
    level = Goal(
        contender=_ENGINE, against=_TORCH, quantity="cpu", at_most=1.0, lacks=_PAGES, reached=1 / 0.9
    )
    return _case(rule, _LARGE, _faster(_MEMORY, 0.85), _faster(_NUMPY, numpy), level)


def _small(rule: str, numpy: float, torch: float) -> Case:
    """In the processor's cache, where arithmetic shows."""
    return _case(rule, _SMALL, _faster(_NUMPY, numpy), _faster(_TORCH, torch))


BENCHMARK = Benchmark(
    name="rules",
    title="one update of a dense parameter on one thread",
    contenders=(
        Contender(_MEMORY, "benchmarks.rules.memory"),
        Contender(_ENGINE, "benchmarks.rules.engine"),
        Contender(_NUMPY, "benchmarks.rules.by_numpy"),
        Contender(
            _TORCH, "benchmarks.rules.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
    ),
    cases=(
        _large("sgd", numpy=1.4),
        _large("momentum", numpy=1.7),
        _large("adagrad", numpy=2.5),
        _large("adam", numpy=2.6),
        _small("adagrad", numpy=2.6, torch=1.1),
        _small("adam", numpy=3.0, torch=1.3),
    ),
)
