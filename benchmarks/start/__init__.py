"""``start``: from the start of a process to the end of its first step, with everything compiled before; and
to the end of what its program imports first.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_V2, _ENGINE, _TORCH, _PADDLE = "paddle.v2", "engine", "torch", "Paddle 2.6"
_NAME = "word2vec, vocabulary 10,000, batch 32"
_SETTINGS = {"rule": "sgd", "learning_rate": 3e-3, "l2": 0.0, "threads": 1, "steps_to_answer": 1}


def _case(name: str, at_most: float, bounds: Mapping[str, float], **settings: object) -> Case:
    """``at_most``: seconds; ``bounds``: as a multiple of a peer's. Peers load most of what they are; this
    project loads what a program uses."""
    return Case(
        name=name,
        unit="process",
        volume=1,
        volume_unit="process",
        settings={**_SETTINGS, **settings},
        goals=(
            Goal(contender=_V2, quantity="cpu", at_most=at_most),
            *(
                Goal(contender=_V2, against=peer, quantity="cpu", at_most=bound)
                for peer, bound in bounds.items()
            ),
        ),
    )


BENCHMARK = Benchmark(
    name="start",
    title="a process from its start to the end of its first step, or of its imports",
    contenders=(
        Contender(_V2, "benchmarks.start.face_v2"),
        Contender(_ENGINE, "benchmarks.start.engine"),
        Contender(
            _TORCH, "benchmarks.start.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
        Contender(
            _PADDLE,
            "benchmarks.start.paddle_peer",
            needs=("paddle",),
            how_to_get="--paddle=PYTHON names a Python 3.10 that has it (pip install paddlepaddle==2.6.2)",
            is_long=True,
            interpreter="paddle",
        ),
    ),
    cases=(
        _case(_NAME, 1.0, {_TORCH: 0.5, _PADDLE: 0.9}, model="word2vec", vocabulary=10_000, batch=32),
        _case(
            "imports alone: paddle, paddle.v2, paddle.fluid", 0.35, {_TORCH: 0.2, _PADDLE: 0.2}, imports=True
        ),
    ),
    rounds=5,
)
