"""``tables``: rows pulled from and pushed to a sparse table whose ids are any numbers, on one thread."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal
from benchmarks.tables.data import BATCH

_BARE, _PAGES, _TABLE, _DICT = "bare kernel", "bare, aligned", "table", "typed.Dict"
_NUMPY, _TORCH = "numpy, no ids", "torch, no ids"


# Why aims are not reached; docs/benchmarks.md says more.
_FAST = "the bare kernel itself is not five times as fast as that for certain"
_MERGES = "repeats are found and added up first, which no peer does"


def _faster(against: str, times: float, lacks: str = "", reached: float = 0.0) -> Goal:
    """So many times as fast; ``reached``: what an aim that lacks something has come to, everywhere."""
    held = 1 / reached if reached else None
    return Goal(
        contender=_TABLE, against=against, quantity="cpu", at_most=1 / times, lacks=lacks, reached=held
    )


def _case(work: str, rows: int, *goals: Goal, repeats: bool = False) -> Case:
    how = "as drawn" if repeats else "each once"
    return Case(
        name=f"{work}, {rows / 1e6:.0f}M rows of 16, 26 x 512 ids, {how}",
        unit="batch",
        volume=BATCH / 1e6,
        volume_unit="Mrow",
        settings={"work": work, "rows": rows, "repeats": repeats},
        goals=goals,
        tolerance=0.0,
        is_long=rows > 1_000_000,
    )


def _cases(rows: int) -> tuple[Case, ...]:
    return (
        _case("pull", rows, _faster(_BARE, 0.95), _faster(_DICT, 5.0, _FAST, 2.4)),
        _case(
            "push",
            rows,
            _faster(_BARE, 0.9),
            _faster(_NUMPY, 4.0),
            _faster(_DICT, 5.0, _FAST, 2.4),
            _faster(_TORCH, 4.5),
        ),
        _case(
            "push",
            rows,
            _faster(_BARE, 0.8, _MERGES, 0.75),
            _faster(_NUMPY, 4.0, _MERGES, 3.2),
            _faster(_DICT, 5.0, f"{_FAST}; {_MERGES}", 2.1),
            _faster(_TORCH, 4.0, _MERGES, 3.3),
            repeats=True,
        ),
    )


BENCHMARK = Benchmark(
    name="tables",
    title="rows of a sparse table by id, on one thread",
    contenders=(
        Contender(_BARE, "benchmarks.tables.bare"),
        Contender(_PAGES, "benchmarks.tables.bare_aligned"),
        Contender(_TABLE, "benchmarks.tables.table"),
        Contender(_DICT, "benchmarks.tables.typed_dict"),
        Contender(_NUMPY, "benchmarks.tables.by_numpy"),
        Contender(
            _TORCH, "benchmarks.tables.torch_peer", needs=("torch",), how_to_get="pip install -e '.[peers]'"
        ),
    ),
    cases=(*_cases(1_000_000), *_cases(10_000_000)),
)
