"""Measuring: what parts of an exchange cost on this machine, through the real client and real shards.

Every observation is a real run of one trainer (field.py) that does one thing over and over, in several sizes
and with one shard or more; processor time of the trainer and of each shard is read from their clocks. What a
push costs for each trainer that there is comes from a real Shard driven by many (counting.py). Costs per unit
are fitted to these (fit.py).

The same costs more the longer it was not done, several times as much where it is little: so all that is asked
is asked after pauses of several lengths, and a job has the costs of the pause most like its computation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from benchmarks.scale.costs import Costs, ModeCosts, ShardCosts, TrainerCosts
from benchmarks.scale.fit import Fit, Observation, fit
from benchmarks.scale.job import simulate
from benchmarks.scale.orders import Field, Order, Part, job_of
from benchmarks.scale.recruit import WARM_BATCHES
from benchmarks.scale.script import script_of
from benchmarks.scale.workload import Workload, is_large, slices
from paddle._engine.exchange import ModeSpec
from paddle._pserver.shard.changes import looks_at_all

SYNC = ModeSpec()
_FEW, _CROWD, _TIMES = 64, 6, 200  # floats or rows, trainers and batches that keep a shard busy
_HEIGHT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is measured. ``for_s``: about how long one observation lasts."""

    floats: tuple[int, ...]
    rows: tuple[int, ...]
    shards: tuple[int, ...]
    peers: tuple[int, ...]
    for_s: float


QUICK = Extent(
    floats=(256, 32_768, 524_288), rows=(64, 2048, 8192), shards=(1, 4), peers=(2, 512), for_s=0.06
)
FULL = Extent(
    floats=(256, 16_384, 131_072, 1_048_576, 4_194_304),
    rows=(64, 1024, 4096, 16_384),
    shards=(1, 3, 8),
    peers=(2, 64, 256, 1024),
    for_s=0.5,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Costs by the pause before what was asked, in seconds, and the fits behind them by name."""

    costs: Mapping[float, Costs]
    fits: Mapping[str, Fit]

    def of(self, load: Workload, crowd: float = 1.0) -> Costs:
        """Those of the pause most like a load's computation. Where a ``crowd`` of trainers shares a core each
        is away from it while the others compute, too."""
        shard = self._after(load.compute_s).shard
        return replace(self._after(load.compute_s * max(1.0, crowd)), shard=shard)

    def _after(self, pause_s: float) -> Costs:
        return self.costs[min(self.costs, key=lambda pause: abs(math.log(pause / pause_s)))]


def measure(field: Field, extent: Extent, modes: Mapping[str, ModeSpec], pauses: Sequence[float]) -> Measured:
    """All costs, with those of ``modes``."""
    counted = _counted(field, extent, modes)
    fits, costs = dict(counted), {}
    for pause in pauses:
        asked = _asked(field, extent, modes, pause)
        fits.update({f"{name}, after {1e3 * pause:g} ms": fit for name, fit in asked.items()})
        costs[pause] = _awake(field, _costs({**counted, **asked}, modes), pause)
    return Measured(costs, fits)


def _counted(field: Field, extent: Extent, modes: Mapping[str, ModeSpec]) -> dict[str, Fit]:
    """Fits of what nobody asks for over a connection."""
    fits: dict[str, Fit] = {}
    fits["gradients"] = fit(list(_gradients(field, extent)))
    fits["rows of gradients"] = fit(list(_gradient_rows(field, extent)))
    noting, telling = _tellings(field, extent, ModeSpec(name="geo"))
    fits["rows noted"], fits["rows told"] = fit(noting), fit(telling)
    for name, mode in modes.items():
        fits[f"{name}, peers"] = fit(list(_peers(field, extent, mode)))
    return fits


def _asked(field: Field, extent: Extent, modes: Mapping[str, ModeSpec], pause: float) -> dict[str, Fit]:
    """Fits of what a trainer asks shards for after each ``pause``."""
    fits: dict[str, Fit] = {}
    ours, theirs, live = _dense(field, extent, pause)
    fits["dense, trainer"], fits["dense, shard"] = fit(ours), fit(theirs)
    fits["dense, shard not in step"] = fit(live)
    ours, theirs = _sparse(field, extent, pause)
    fits["sparse, trainer"], fits["sparse, shard"] = fit(ours), fit(theirs)
    for name, mode in modes.items():
        if mode.is_local:
            fits[f"{name}, rows heard of"] = fit(list(_hearing(field, extent, mode, pause)))
        if mode.is_local or mode.max_merge_var_num > 1:
            fits[f"{name}, trainer"] = fit(list(_mode(field, extent, mode, pause, _trainer_costs(fits))))
    return fits


def _awake(field: Field, costs: Costs, pause: float) -> Costs:
    """Costs in which a shard's waking stands by itself. A probe's shard has slept whenever it is asked; one
    that many trainers ask does not sleep."""
    shard, mode = costs.shard, ModeSpec(name="async")
    few = Workload(name="busy", floats=_FEW, compute_s=0.0)
    order = Order(workload=few, mode=mode, trainers=_CROWD, sparse=0, batches=_TIMES)
    wake_s = max(0.0, _asleep_s(order, costs) - _busy_s(field, order))
    rows = replace(order, workload=replace(few, floats=0, rows=_FEW, height=_HEIGHT), dense=0, sparse=1)
    table_wake_s = max(0.0, _asleep_s(rows, costs) - _busy_s(field, rows)) / 2  # two questions
    shard = replace(
        shard,
        pause_s=pause,
        wake_s=wake_s,
        message_s=max(0.0, shard.message_s - wake_s / 2),
        table_wake_s=table_wake_s,
        table_message_s=max(0.0, shard.table_message_s - table_wake_s / 2),
    )
    return replace(costs, shard=shard)


def _asleep_s(order: Order, costs: Costs) -> float:
    return simulate(job_of(replace(order, trainers=1), 1.0), costs).shards_cpu_s


def _busy_s(field: Field, order: Order) -> float:
    """Others can only make it longer."""
    return min(field.run(order).shard_cpu_s for _ in range(3))


def _trainer_costs(fits: Mapping[str, Fit]) -> TrainerCosts:
    dense, rows = fits["dense, trainer"].seconds, fits["sparse, trainer"].seconds
    return TrainerCosts(
        step_s=dense["step"],
        pull_s=dense["pull"],
        message_s=dense["message"],
        large_s=dense["large"],
        push_s=dense["push"],
        table_message_s=rows["message"],
        table_large_s=rows["large"],
        table_push_s=rows["push"],
        sent_byte_s=dense["byte out"],
        received_byte_s=dense["byte in"],
        slice_s=dense["slice"],
        prefetch_s=rows["prefetch"],
        pulled_row_s=rows["row pulled"],
        pushed_row_s=rows["row pushed"],
        sift_s=rows["row sifted"],
    )


def _costs(fits: Mapping[str, Fit], modes: Mapping[str, ModeSpec]) -> Costs:
    shard, live, held = (
        fits[name].seconds for name in ("dense, shard", "dense, shard not in step", "sparse, shard")
    )
    folds, row_folds = fits["gradients"].seconds, fits["rows of gradients"].seconds
    applied = row_folds["row"]
    servers = ShardCosts(
        message_s=shard["message"],
        large_s=shard["large"],
        push_s=shard["push"],
        table_message_s=held["message"],
        table_large_s=held["large"],
        table_push_s=held["push"],
        # A push's bytes come in and are applied: what applying takes is known by itself.
        received_byte_s=max(0.0, shard["byte in and applied"] - folds["float"] / 4),
        sent_byte_s=shard["byte out"],
        copied_byte_s=live["byte out"],
        rule_float_s=folds["float"],
        fold_float_s=folds["float folded"],
        pulled_row_s=held["row pulled"],
        received_row_s=max(0.0, held["row pushed"] - applied),
        applied_row_s=applied,
        noted_row_s=max(0.0, fits["rows noted"].seconds["row"] - applied),
        listed_row_s=fits["rows told"].seconds["row listed"],
        looked_row_s=fits["rows told"].seconds["row looked at"],
        folded_row_s=max(applied, row_folds["row folded"]),
        peer_s={mode.name: fits[f"{name}, peers"].seconds["peer"] for name, mode in modes.items()},
    )
    own = {
        mode.name: ModeCosts(**fits[f"{name}, trainer"].seconds, told_row_s=_told_row_s(fits, name))
        for name, mode in modes.items()
        if f"{name}, trainer" in fits
    }
    return Costs(trainer=_trainer_costs(fits), shard=servers, modes=own)


# Observations.


def _dense(
    field: Field, extent: Extent, pause: float
) -> tuple[list[Observation], list[Observation], list[Observation]]:
    ours, theirs, live = [], [], []
    for floats, shards in ((f, s) for f in extent.floats for s in extent.shards):
        load = Workload(name="dense", floats=floats, compute_s=pause)
        cut, size = slices(floats, shards) * shards, 4.0 * floats
        parts: tuple[Part, ...] = ("pull", "push")
        for part, probed in field.probe(_order(load, dense=shards), parts, extent.for_s).items():
            is_push = part == "push"
            out = size * is_push
            large = shards * is_large(size / shards) * (1 + is_push)
            units = {"push": shards * is_push, "message": 2.0 * shards, "large": large}
            own = {"step" if is_push else "pull": 1, "slice": cut * (1 + is_push)}
            own |= {"byte out": out, "byte in": size}
            ours.append(Observation({**units, **own}, fmean(probed.trainer_s)))
            theirs.append(
                Observation({**units, "byte in and applied": out, "byte out": size}, probed.shards_s)
            )
        if shards == 1:
            order = _order(load, dense=1, mode=ModeSpec(name="async"))
            probed = field.probe(order, ["pull"], extent.for_s)["pull"]
            live.append(Observation({"message": 2, "byte out": size}, probed.shards_s))
    return ours, theirs, live


def _sparse(field: Field, extent: Extent, pause: float) -> tuple[list[Observation], list[Observation]]:
    ours, theirs = [], []
    for rows, shards in ((r, s) for r in extent.rows for s in extent.shards):
        load = Workload(name="sparse", floats=0, rows=rows, height=_HEIGHT, compute_s=pause)
        parts: tuple[Part, ...] = ("prefetch", "push")
        for part, probed in field.probe(_order(load, sparse=shards), parts, extent.for_s).items():
            is_push = part == "push"
            sifted = rows * (shards > 1)
            units = {"message": 2.0 * shards, "row pushed" if is_push else "row pulled": rows}
            units["push"] = shards * is_push
            units["large"] = shards * is_large(
                (load.row_bytes if is_push else 4 * load.width) * rows / shards
            )
            own = {"step" if is_push else "prefetch": 1.0, "row sifted": sifted}
            ours.append(Observation({**units, **own}, fmean(probed.trainer_s)))
            theirs.append(Observation(units, probed.shards_s))
    return ours, theirs


def _order(load: Workload, *, dense: int = 0, sparse: int = 0, mode: ModeSpec = SYNC) -> Order:
    return Order(workload=load, dense=dense, sparse=sparse, mode=mode, batches=0)


def _count(
    field: Field, mode: ModeSpec, trainers: int, *, floats: int = 0, rows: int = 0, rounds: int = 7
) -> dict[str, Any]:
    """What a push takes a shard's state machine and tables."""
    request = {"do": "count", "mode": _spec(mode), "trainers": trainers, "floats": floats, "rows": rows}
    return field.ask({**request, "height": _HEIGHT, "rounds": rounds})


def _spec(mode: ModeSpec) -> dict[str, Any]:
    return {name: getattr(mode, name) for name in ModeSpec.__dataclass_fields__}


def _gradients(field: Field, extent: Extent) -> Iterator[Observation]:
    """A push of one trainer is applied alone; of those of several all but one are added first."""
    for floats in extent.floats:
        for trainers in (1, 2, 8):
            seconds = trainers * _count(field, SYNC, trainers, floats=floats)["push_s"]
            units = {"push": trainers, "float": floats, "float folded": floats * (trainers - 1), "step": 1}
            yield Observation(units, seconds)


def _gradient_rows(field: Field, extent: Extent) -> Iterator[Observation]:
    for rows in extent.rows:
        for trainers in (1, 2, 8):
            seconds = trainers * _count(field, SYNC, trainers, rows=rows)["push_s"]
            row, step = ("row", "step") if trainers == 1 else ("row folded", "folding")
            yield Observation({"push": trainers, row: rows * trainers, step: 1}, seconds)


def _peers(field: Field, extent: Extent, mode: ModeSpec) -> Iterator[Observation]:
    """What more trainers take a shard at each push; with a row, as a job has both kinds of shards."""
    for trainers in extent.peers:
        seconds = float(_count(field, mode, trainers, rows=1, rounds=5)["push_s"])
        yield Observation({"push": 1, "peer": trainers - 1}, seconds)


def _tellings(field: Field, extent: Extent, mode: ModeSpec) -> tuple[list[Observation], list[Observation]]:
    """What it takes a shard to note at a push what others are to be told, and to tell it."""
    noting, telling = [], []
    for rows in extent.rows[:-1]:
        for trainers in (2, 8):
            counted = _count(field, mode, trainers, rows=rows, rounds=3)
            noting.append(Observation({"push": 1, "row": rows}, counted["push_s"]))
            listed = rows * trainers
            looked = {"row looked at": _HEIGHT} if looks_at_all(listed, _HEIGHT) else {"row listed": listed}
            telling.append(
                Observation({"question": 2, "row told": counted["told"], **looked}, counted["tell_s"])
            )
    return noting, telling


def _hearing(field: Field, extent: Extent, mode: ModeSpec, pause: float) -> Iterator[Observation]:
    for rows in extent.rows:
        request = {"do": "hear", "mode": _spec(mode), "rows": rows, "height": _HEIGHT, "rounds": 15}
        request["pause_s"] = pause
        yield Observation({"meeting": 1, "row": rows}, float(field.ask(request)["meeting_s"]))


def _told_row_s(fits: Mapping[str, Fit], name: str) -> float:
    found = fits.get(f"{name}, rows heard of")
    return found.seconds["row"] if found is not None else 0.0


def _mode(
    field: Field, extent: Extent, mode: ModeSpec, pause: float, costs: TrainerCosts
) -> Iterator[Observation]:
    """What the mode takes of a trainer: its batches that meet nobody, and those that do, less the exchange
    that all modes have, and less its asking what was changed."""
    hears_own = mode.is_local and mode.name != "geo"
    for floats, rows in _mixtures(extent):
        load = Workload(name="mode", floats=floats, rows=rows, height=_HEIGHT, compute_s=pause)
        order = _order(load, dense=1, sparse=int(rows > 0))
        plain = field.probe(order, ["push"], extent.for_s / 2)["push"].trainer_s
        part: Part = "train" if mode.is_local else "push"  # what rows it needs it has
        took = field.probe(replace(order, mode=mode), [part], extent.for_s)[part].trainer_s
        script = script_of(mode, 1, WARM_BATCHES + len(took))[WARM_BATCHES:]
        alone, met = (
            fmean(s for s, batch in zip(took, script, strict=True) if bool(batch.after) == meets)
            for meets in (False, True)
        )
        units = {"batch_s": 1.0, "batch_float_s": floats, "batch_row_s": rows, "batch_table_s": rows > 0}
        yield Observation(units, alone)
        more = {"meeting_s": 1.0, "meeting_float_s": floats, "meeting_table_s": rows > 0}
        merged = load.touched(script_merged(mode))
        met -= fmean(plain)
        if mode.is_local and rows:
            told_bytes = merged * load.row_bytes * hears_own
            met -= 3 * costs.of_rows_s(0) + costs.of_rows_s(told_bytes) + told_bytes * costs.received_byte_s
        yield Observation({**units, **more, "meeting_row_s": merged}, max(alone, met))


def script_merged(mode: ModeSpec) -> int:
    """Batches in a push."""
    return mode.k_steps if mode.is_local else mode.max_merge_var_num


def _mixtures(extent: Extent) -> list[tuple[int, int]]:
    few, many = extent.floats[0], extent.floats[-1]
    some, others = extent.floats[len(extent.floats) // 2], extent.rows[1]
    return [(few, 0), (many, 0), (few, extent.rows[-1]), (many // 4, extent.rows[-2]), (some, others)]
