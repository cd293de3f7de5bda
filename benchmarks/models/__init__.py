"""``models``: a training step, against the same model fused by hand, PyTorch and PaddlePaddle itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal
from benchmarks.models.aims import (
    ENGINE,
    FUSED,
    HAND,
    PADDLE,
    PEERS,
    PRODUCTS,
    STATIC,
    TORCH,
    V2,
    ahead,
    as_called,
    at_most,
)

_ALL = (ENGINE, V2, *PEERS)
_SHORT = {("word2vec", 32), ("ctr", 512), ("regression", 20)}


def _case(
    model: str,
    name: str,
    batch: int,
    rate: float,
    contenders: tuple[str, ...] = (),
    *goals: Goal,
    **more: object,
) -> Case:
    """One thread: what is expected of every model, and these ``goals``."""
    settings = {"model": model, "batch": batch, "rule": "sgd", "learning_rate": rate, "l2": 0.0, "threads": 1}
    settings["steps_to_answer"] = 3 if model == "lstm" else 10
    return Case(
        name=f"{name}, batch {batch}, {more.get('rule', 'sgd')}",
        unit="step",
        volume=batch,
        volume_unit="sample",
        settings={**settings, **more},
        goals=(*ahead(model, 1), *goals),
        contenders=(*_ALL, *contenders),
        is_long=(model, batch) not in _SHORT,
    )


def _word2vec(batch: int, vocabulary: int = 10_000, **more: object) -> Case:
    name, rate = f"word2vec, vocabulary {vocabulary:,}", 3e-3 if more else 0.1 / batch
    if more:
        return replace(
            _case("word2vec", name, batch, rate, (HAND,), vocabulary=vocabulary, **more),
            contenders=(ENGINE, V2, HAND, TORCH),
            goals=(at_most(ENGINE, HAND, 1.0), at_most(V2, HAND, 1.1)),
            is_long=True,
        )
    goals, others = (at_most(ENGINE, FUSED, 1.1), at_most(V2, TORCH, 0.5)), (FUSED, HAND, PRODUCTS)
    if batch == 32:
        goals, others = (at_most(ENGINE, FUSED, 1.1), *as_called("word2vec")), (STATIC, *others)
    return _case("word2vec", name, batch, rate, others, *goals, vocabulary=vocabulary)


def _on_one_thread() -> Iterator[Case]:
    yield from (_word2vec(batch) for batch in (32, 128, 1024))
    clicks = at_most(ENGINE, FUSED, 1.1), at_most(V2, TORCH, 0.5)
    yield _case("ctr", "click-through, 26 slots of a million rows", 512, 1e-3, (FUSED, PRODUCTS), *clicks)
    yield _case("mlp", "digits, 784-128-64-10", 128, 1e-3, (STATIC,), *as_called("mlp"))
    yield _case("lenet", "digits, LeNet", 128, 5e-5)
    yield _case("lstm", "reviews, LSTM of 512, length 100", 64, 1e-3)
    # By hand it is a dozen calls of numpy: all that can be seen here is overhead.
    few = at_most(ENGINE, PADDLE, 0.06), *as_called("regression")
    yield _case("regression", "linear regression", 20, 1e-3, (STATIC, HAND), *few)
    yield _word2vec(32, 1_300, rule="adagrad", l2=8e-4)
    yield _word2vec(128, rule="adagrad", l2=8e-4)


def _on_two_threads() -> Iterator[Case]:
    """The same on two threads, though one computes what is small."""
    for case in _on_one_thread():
        if case.settings["rule"] == "sgd":
            yield replace(
                case,
                name=f"{case.name}, two threads",
                settings={**case.settings, "threads": 2},
                goals=ahead(str(case.settings["model"]), 2),
                contenders=_ALL,
                threads=2,
                is_long=True,
            )


BENCHMARK = Benchmark(
    name="models",
    title="one training step, against the same model fused by hand and in other frameworks\n"
    "aims and known misses are of a Zen 5; docs/benchmarks.md says what to expect of other processors",
    contenders=(
        Contender(ENGINE, "benchmarks.models.engine", own_threads=True),
        Contender(V2, "benchmarks.models.face_v2", own_threads=True),
        Contender(STATIC, "benchmarks.models.paddle_peer"),  # the very program, on this project's runtime
        Contender(FUSED, "benchmarks.models.fused"),
        Contender(HAND, "benchmarks.models.by_hand"),
        Contender(
            TORCH, "benchmarks.models.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
        Contender(
            PADDLE,
            "benchmarks.models.paddle_peer",
            needs=("paddle",),
            how_to_get="--paddle=PYTHON names a Python 3.10 that has it (pip install paddlepaddle==2.6.2)",
            interpreter="paddle",
        ),
        Contender(PRODUCTS, "benchmarks.models.products"),
    ),
    cases=(*_on_one_thread(), *_on_two_threads()),
    rounds=5,
    shows_memory=True,
)
