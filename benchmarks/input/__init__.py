"""``input``: a batch of rows, as a reader yields them, becomes the arrays of a step, on one thread."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_NUMPY, _FEEDER, _TORCH = "numpy", "feeder", "torch"


def _case(name: str, kind: str, rows: int, *, numpy: float, torch: float) -> Case:
    """Goals: how many times as fast the feeder is at least. It looks at every value, as numpy by hand does
    not, which small batches feel."""
    goals = tuple(
        Goal(contender=_FEEDER, against=against, quantity="cpu", at_most=1 / times)
        for against, times in ((_NUMPY, numpy), (_TORCH, torch))
    )
    return Case(
        name=f"{name}, {rows} rows",
        unit="batch",
        volume=rows,
        volume_unit="rows",
        settings={"kind": kind, "rows": rows},
        goals=goals,
        tolerance=1e-5,
    )


BENCHMARK = Benchmark(
    name="input",
    title="rows of a reader become the arrays of a step",
    contenders=(
        Contender(_NUMPY, "benchmarks.input.by_numpy"),
        Contender(_FEEDER, "benchmarks.input.feeder"),
        Contender(
            _TORCH, "benchmarks.input.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
    ),
    cases=(
        _case("word2vec, 5 ids", "words", 32, numpy=0.4, torch=1.5),
        _case("word2vec, 5 ids", "words", 128, numpy=0.8, torch=1.5),
        _case("word2vec, 5 ids", "words", 1024, numpy=1.2, torch=1.5),
        _case("MNIST, arrays of 784", "arrays", 128, numpy=0.6, torch=1.5),
        _case("MNIST, lists of 784", "lists", 128, numpy=1.5, torch=2.0),
        _case("CTR, 13 numbers and 26 ids", "ids", 512, numpy=1.2, torch=1.5),
        _case("CTR, 13 numbers and 26 columns of 100000", "columns", 512, numpy=1.2, torch=1.2),
    ),
)
