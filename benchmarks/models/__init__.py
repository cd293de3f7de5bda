"""``models``: a training step, against the same model fused by hand, PyTorch and PaddlePaddle itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_ENGINE, _V2, _FUSED, _HAND = "engine", "paddle.v2", "fused by hand", "numpy by hand"
_STATIC = "paddle.static"
_TORCH, _PADDLE = "torch", "Paddle 2.6"
_PRODUCTS = "products alone"
_PEERS = (_TORCH, _PADDLE)
_ALL = (_ENGINE, _V2, *_PEERS)


def _at_most(contender: str, against: str, bound: float, lacks: str = "", quantity: str = "cpu") -> Goal:
    return Goal(contender=contender, against=against, quantity=quantity, at_most=bound, lacks=lacks)


_FLOOR = "the products of matrices alone take about as long, on processors without a unit for them"
_PEAK = "on an AMD products at what it does in registers take 4.3 ms with 32 samples, and 17 with 128"
_ROWS = "twenty rows become arrays at every step, and a program hears of three events"
_FEW = "27 arrays to feed, and a table that is told of its rows"


def _ahead(torch: float, paddle: float, lacks: str = "", reached: tuple[float, ...] = ()) -> tuple[Goal, ...]:
    """The engine's processor time by the factors that were set as aims, and less memory than either peer.

    ``lacks``: why they are not reached; ``reached``: what is, of the peers' time.
    """
    aims = zip(_PEERS, (torch, paddle), strict=True)
    times = [_at_most(_ENGINE, peer, round(1 / factor, 3), lacks) for peer, factor in aims]
    held = [_at_most(_ENGINE, peer, bound) for peer, bound in zip(_PEERS, reached, strict=False)]
    return *times, *held, *(_at_most(_ENGINE, peer, 1.0, quantity="memory") for peer in _PEERS)


def _as_called(torch: float, paddle: float, lacks: str = "") -> tuple[Goal, ...]:
    """The processor time of a step as programs call it, by the same factors."""
    peers = zip(_PEERS, (torch, paddle), strict=True)
    return tuple(
        _at_most(face, peer, round(1 / factor, 3), lacks) for peer, factor in peers for face in (_STATIC, _V2)
    )


_CALLED_OFTEN = (
    _at_most(_STATIC, _TORCH, 0.2, "the engine's own step takes most of a fifth of torch's"),
    _at_most(_STATIC, _TORCH, 0.35),
    _at_most(_STATIC, _PADDLE, 0.1),
    _at_most(_V2, _TORCH, 0.2, _ROWS),
    _at_most(_V2, _TORCH, 0.55),
    _at_most(_V2, _PADDLE, 0.1, _ROWS),
    _at_most(_V2, _PADDLE, 0.15),
)
"""Of linear regression, where a call costs as much as what it computes."""


def _case(
    model: str,
    name: str,
    batch: int,
    rate: float,
    contenders: tuple[str, ...] = (),
    *goals: Goal,
    **more: object,
) -> Case:
    settings = {"model": model, "batch": batch, "rule": "sgd", "learning_rate": rate, "l2": 0.0, "threads": 1}
    settings["steps_to_answer"] = 3 if model == "lstm" else 10
    return Case(
        name=f"{name}, batch {batch}, {more.get('rule', 'sgd')}",
        unit="step",
        volume=batch,
        volume_unit="sample",
        settings={**settings, **more},
        goals=goals,
        contenders=(*_ALL, *contenders),
        is_long=(model, batch) not in _SHORT,
    )


_SHORT = {("word2vec", 32), ("ctr", 512), ("regression", 20)}


def _word2vec(batch: int, vocabulary: int = 10_000, **more: object) -> Case:
    name, rate = f"word2vec, vocabulary {vocabulary:,}", 3e-3 if more else 0.1 / batch
    if more:
        return replace(
            _case("word2vec", name, batch, rate, (_HAND,), vocabulary=vocabulary, **more),
            contenders=(_ENGINE, _V2, _HAND, _TORCH),
            goals=(_at_most(_ENGINE, _HAND, 1.0), _at_most(_V2, _HAND, 1.1)),
            is_long=True,
        )
    lacks, reached = {32: (_PEAK, (0.75, 0.45)), 128: (_PEAK, (0.8, 0.45))}.get(batch, (_FLOOR, (0.9, 0.85)))
    goals = *_ahead(2, 5, lacks, reached), _at_most(_ENGINE, _FUSED, 1.1), _at_most(_V2, _TORCH, 1.0)
    others = (_FUSED, _HAND, _PRODUCTS)
    if batch == 32:
        goals, others = (*goals, *_as_called(2, 5, _PEAK)), (_STATIC, *others)
    return _case("word2vec", name, batch, rate, others, *goals, vocabulary=vocabulary)


def _on_one_thread() -> Iterator[Case]:
    yield from (_word2vec(batch) for batch in (32, 128, 1024))
    ctr = *_ahead(2, 5, _FLOOR, (1.0, 1.0)), _at_most(_ENGINE, _FUSED, 1.1, _FEW), _at_most(_V2, _TORCH, 1.1)
    yield _case("ctr", "click-through, 26 slots of a million rows", 512, 1e-3, (_FUSED, _PRODUCTS), *ctr)
    digits = *_ahead(1, 1), *_as_called(1, 1)
    yield _case("mlp", "digits, 784-128-64-10", 128, 1e-3, (_STATIC,), *digits)
    yield _case("lenet", "digits, LeNet", 128, 5e-5, (), *_ahead(1, 1))
    yield _case("lstm", "reviews, LSTM of 512, length 100", 64, 1e-3, (), *_ahead(1, 1))
    # By hand it is a dozen calls of numpy: all that can be seen here is overhead.
    few = *_ahead(5, 10, reached=(0.19, 0.06)), *_CALLED_OFTEN
    yield _case("regression", "linear regression", 20, 1e-3, (_STATIC, _HAND), *few)
    yield _word2vec(32, 1_300, rule="adagrad", l2=8e-4)
    yield _word2vec(128, rule="adagrad", l2=8e-4)


def _on_two_threads() -> Iterator[Case]:
    """The same on two threads, for whom that is worth it; wall time is what counts there."""
    for case in _on_one_thread():
        if case.settings["model"] != "regression" and case.settings["rule"] == "sgd":
            yield replace(
                case,
                name=f"{case.name}, two threads",
                settings={**case.settings, "threads": 2},
                goals=tuple(_at_most(_ENGINE, peer, 1.0, quantity="wall") for peer in _PEERS),
                contenders=_ALL,
                threads=2,
                is_long=True,
            )


BENCHMARK = Benchmark(
    name="models",
    title="one training step, against the same model fused by hand and in other frameworks",
    contenders=(
        Contender(_ENGINE, "benchmarks.models.engine", own_threads=True),
        Contender(_V2, "benchmarks.models.face_v2", own_threads=True),
        Contender(_STATIC, "benchmarks.models.paddle_peer"),  # the very program, on this project's runtime
        Contender(_FUSED, "benchmarks.models.fused"),
        Contender(_HAND, "benchmarks.models.by_hand"),
        Contender(
            _TORCH, "benchmarks.models.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
        Contender(
            _PADDLE,
            "benchmarks.models.paddle_peer",
            needs=("paddle",),
            how_to_get="--paddle=PYTHON names a Python 3.10 that has it (pip install paddlepaddle==2.6.2)",
            interpreter="paddle",
        ),
        Contender(_PRODUCTS, "benchmarks.models.products"),
    ),
    cases=(*_on_one_thread(), *_on_two_threads()),
    rounds=5,
    shows_memory=True,
)
