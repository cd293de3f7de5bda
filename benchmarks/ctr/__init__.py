"""``ctr``: the click-through job of a fleet, beside PaddlePaddle's own wheels and PyTorch's own way."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal
from benchmarks.samples import Quantity

_OURS, _ARRAYS, _TORCH = "paddle-fabric", "paddle-fabric, arrays", "torch DDP"
_P18, _P18_TUNED = "Paddle 1.8", "Paddle 1.8, tuned"
_P26, _P26_TUNED = "Paddle 2.6", "Paddle 2.6, tuned"
_LIMIT = "products alone"
_BATCH = 512


_PRODUCTS = "most of a step is products of matrices, which alone take as long as the aim or more"
_LEAST = "numba and its compiler are 115 MB of a worker, and in GEO it has the table twice"


def _at_most(
    against: str, bound: float, quantity: Quantity = "cpu", lacks: str = "", reached: float | None = None
) -> Goal:
    """``reached``: where it lacks something; None where it is reached, whatever it would lack."""
    lacks = "" if reached is None else lacks
    return Goal(
        contender=_OURS, against=against, quantity=quantity, at_most=bound, lacks=lacks, reached=reached
    )


def _goals(
    aims: dict[str, float], reached: dict[str, float], memory: float | None = None
) -> tuple[Goal, ...]:
    """Processor time of ours by the factors that were set as ``aims``, and memory beside the wheel's, which
    is the first of them; the bounds that are ``reached`` where these are not, on the slowest processor."""
    wheel = next(iter(aims))
    return (
        *(_at_most(p, round(1 / factor, 3), "cpu", _PRODUCTS, reached.get(p)) for p, factor in aims.items()),
        _at_most(wheel, 0.45, "memory", _LEAST, memory),
    )


def _case(mode: str, feeds: str, block: int, contenders: tuple[str, ...], *goals: Goal) -> Case:
    return Case(
        name=f"{mode}, batches of {_BATCH} by {feeds}",
        unit="step of a worker",
        volume=_BATCH,
        volume_unit="sample",
        settings={"mode": mode, "feeds": feeds, "block": block, "is_start": False},
        goals=goals,
        tolerance=2e-3 if mode == "sync" else 0.1,
        is_long=mode != "sync",
        contenders=(_OURS, *contenders),
    )


_SYNC = (
    *_goals({_P18: 5, _P18_TUNED: 3.5, _TORCH: 2.2}, {_P18: 0.5, _P18_TUNED: 0.48, _TORCH: 0.9}),
    _at_most(_LIMIT, 2.0),
)
_ASYNC = _goals({_P26: 5, _P26_TUNED: 2}, {_P26: 0.5}, 0.5)
_GEO = _goals({_P26: 4, _P26_TUNED: 2}, {_P26: 0.35}, 0.75)
_START = Case(
    name="from the launcher's start to the first step of both workers, async",
    unit="job",
    volume=1,
    volume_unit="job",
    settings={"mode": "async", "feeds": "arrays", "block": 1, "is_start": True},
    goals=(Goal(contender=_OURS, quantity="wall", at_most=2.0),),
    tolerance=0.1,
    is_long=True,
    contenders=(_OURS, _P18, _TORCH),
)


def _wheel(name: str, module: str, interpreter: str, how_to_get: str, is_long: bool) -> Contender:
    return Contender(
        name, f"benchmarks.ctr.{module}", ("paddle",), how_to_get, is_long, interpreter, is_held_here=True
    )


_GET_18 = "--paddle18=PYTHON names a Python 3.7 that has it (pip install paddlepaddle==1.8.5 'protobuf<3.21')"
_GET_26 = (
    "--paddle=PYTHON names a Python 3.10 with pip install paddlepaddle==2.6.2 'protobuf==3.20.3' 'numpy<2'"
)

BENCHMARK = Benchmark(
    name="ctr",
    title="a click-through job of one pserver and two workers, by fleet and its launcher",
    contenders=(
        Contender(_OURS, "benchmarks.ctr.ours"),
        Contender(_ARRAYS, "benchmarks.ctr.ours_arrays"),
        _wheel(_P18, "paddle18", "paddle18", _GET_18, False),
        _wheel(_P18_TUNED, "paddle18_tuned", "paddle18", _GET_18, True),
        _wheel(_P26, "paddle26", "paddle", _GET_26, True),
        _wheel(_P26_TUNED, "paddle26_tuned", "paddle", _GET_26, True),
        Contender(_TORCH, "benchmarks.ctr.torch_ddp", ("torch",), "pip install -e '.[peers]'"),
        Contender(_LIMIT, "benchmarks.ctr.products"),
    ),
    cases=(
        _case("sync", "arrays", 40, (_P18, _P18_TUNED, _TORCH, _LIMIT), *_SYNC),
        _case("async", "dataset", 40, (_ARRAYS, _P26, _P26_TUNED), *_ASYNC),
        _case("geo", "dataset", 100, (_ARRAYS, _P26, _P26_TUNED), *_GEO),
        _START,
    ),
    rounds=5,
    shows_memory=True,
)
