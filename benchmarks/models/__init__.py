"""``models``: a training step on one thread, against the same model written by hand in numpy."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_HAND, _ENGINE, _V2, _TORCH = "numpy by hand", "engine", "paddle.v2", "torch"


def _cpu(contender: str, at_most: float) -> Goal:
    return Goal(contender=contender, against=_HAND, quantity="cpu", at_most=at_most)


def _word2vec(vocabulary: int, batch: int, rule: str, l2: float, *, engine: float, v2: float) -> Case:
    return Case(
        name=f"word2vec, vocabulary {vocabulary:,}, batch {batch}, {rule}",
        unit="step",
        volume=batch,
        volume_unit="sample",
        settings={
            "model": "word2vec",
            "vocabulary": vocabulary,
            "batch": batch,
            "rule": rule,
            "learning_rate": 3e-3,
            "l2": l2,
        },
        goals=(_cpu(_ENGINE, engine), _cpu(_V2, v2)),
    )


_REGRESSION = Case(
    name="linear regression, batch 20, sgd",
    unit="step",
    volume=20,
    volume_unit="sample",
    settings={"model": "regression", "batch": 20, "rule": "sgd", "learning_rate": 1e-3, "l2": 0.0},
    # By hand it is a dozen calls of numpy: all that can be seen here is overhead.
    goals=(_cpu(_ENGINE, 5.5), _cpu(_V2, 8.5)),
)

BENCHMARK = Benchmark(
    name="models",
    title="one training step on one thread, against the same model by hand",
    contenders=(
        Contender(_HAND, "benchmarks.models.by_hand"),
        Contender(_ENGINE, "benchmarks.models.engine"),
        Contender(_V2, "benchmarks.models.face_v2"),
        Contender(
            _TORCH, "benchmarks.models.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
    ),
    cases=(
        _word2vec(1_300, 32, "adagrad", l2=8e-4, engine=0.90, v2=1.00),
        _word2vec(1_300, 128, "adagrad", l2=8e-4, engine=1.00, v2=1.10),
        _word2vec(10_000, 32, "adagrad", l2=8e-4, engine=0.80, v2=0.85),
        _word2vec(10_000, 128, "adagrad", l2=8e-4, engine=0.95, v2=1.00),
        _word2vec(10_000, 32, "sgd", l2=0.0, engine=1.00, v2=1.05),
        _REGRESSION,
    ),
)
