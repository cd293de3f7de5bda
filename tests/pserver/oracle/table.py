"""The table of modes and rules: all of each, and what a job of any two of them is.

Every mode with every rule is held to a reference, dense, in tables of a declared height and in open ones,
with schedules, penalties and clipping by value, with a parameter's own numbers, and with averages. A rule, a
mode, a number of one or a way of treating idle rows that is not in here fails in test_modes.py. What is not,
because another test holds it and no mode or no rule can tell:

* the number of shards, bit for bit (test_every_mode.py), and one process (test_equality.py);
* trainers that are lost, and what a shard lacks that goes back (test_any_course.py);
* clipping by norm and by global norm: trainers do that before an exchange has a gradient (test_clipping.py);
* schedules beyond one of each unit (test_schedules.py), and rates that trainers tell (test_told_rate.py);
* the other numbers of a rule: a rule is arithmetic, and knows no mode (tests/engine/rules);
* entry policies and days that end (test_hash_table_rules.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from paddle._engine.exchange import AverageSpec, ModeName, ModeSpec, ParameterSpec, RowsSpec, ScheduleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN
from tests.engine.rules.rule_twins import OPTIONS
from tests.engine.rules.test_rules_fluid import OF_FLUID

from .alone import Average, Elastic, Geo
from .keeper import Rate, Setting
from .reference import Reference
from .references import Async, HalfAsync, Ssp, Sync

FOLLOW = {"adam", "adamax", "ftrl", "lamb"}
FADING = {"decayed_adagrad": ("first",), "rmsprop": ("first", "second")}


def of_v2(name: str, *, rolls: bool = False, **options: float) -> Setting:
    return Setting(
        name,
        OPTIONS[name] | options,
        rolls=rolls,
        fading=FADING.get(name, ()),
        follows=name in FOLLOW,
        counts="touches" if name in FADING else "step",
    )


def of_fluid(name: str, options: dict[str, float], *, rolls: bool = False) -> Setting:
    counts = "c" if name in ("adam", "adamw") else "steps"
    return Setting(name, options, is_fluid=True, rolls=rolls, follows=True, counts=counts)


RULES: dict[str, Setting] = {
    **{name: of_v2(name) for name in sorted(OPTIONS)},
    "momentum": of_v2("momentum", momentum=0.6),
    "sparse momentum": of_v2("momentum", momentum=0.6, rolls=True),
    "adam, not lazy": of_v2("adam", lazy=0.0, rolls=True),
    "adam, corrected, not lazy": of_fluid("adam", {**OF_FLUID["adam"][0], "lazy": 0.0}, rolls=True),
    "adamw, not lazy": of_fluid("adamw", {**OF_FLUID["adamw"][0], "lazy": 0.0}, rolls=True),
    **{
        name: of_fluid(name, several[-1]) for name, several in sorted(OF_FLUID.items()) if name not in OPTIONS
    },
}
"""By a name of its own each, and once for each way in which it treats rows that steps pass by."""


@dataclass(frozen=True)
class Cell:
    """A mode with its numbers, of which a course draws, and what stands for it."""

    reference: type[Reference]
    modes: list[ModeSpec]
    reduce: Literal["sum", "mean"] = "sum"
    is_dense: bool = False  # has no tables


def of(name: ModeName, reference: type[Reference], **numbers: Any) -> Cell:
    """A mode with each of these numbers."""
    several = product(*([(each, value) for value in values] for each, values in numbers.items()))
    return Cell(reference, [ModeSpec(name=name, **dict(one)) for one in several])


MEETING = {"k_steps": [1, 2, 3], "delta_add_rate": [0.75, 1.0]}
MODES: dict[str, Cell] = {
    "sync, sum": of("sync", Sync),
    "sync, mean": replace(of("sync", Sync), reduce="mean"),
    "async": of("async", Async, discard_ratio=[1.0, 1.2, 1.5]),
    "async, corrected": replace(
        of("async", Async, discard_ratio=[1.5, 9.0], compensates=[True]), is_dense=True
    ),
    "half-async": of("half_async", HalfAsync, max_merge_var_num=[1, 2, 3], merge=["sum", "mean"]),
    "ssp": of("ssp", Ssp, staleness=[0, 1, 2]),
    "geo": of("geo", Geo, k_steps=[1, 2, 3]),
    "average": of("average", Average, **MEETING),
    "average, async": of("average", Average, **MEETING, is_async=[True]),
    "elastic": of("elastic_average", Elastic, **MEETING),
    "elastic, async": of("elastic_average", Elastic, **MEETING, is_async=[True]),
}

# Features, of which a course draws.

SCHEDULES: list[tuple[ScheduleSpec, Rate]] = [
    (
        ScheduleSpec(name="poly", learning_rate=0.3, decay_a=0.05, decay_b=0.5),
        lambda samples, passes, steps: 0.3 * (1 + 0.05 * samples) ** -0.5,
    ),
    (
        ScheduleSpec(
            name="inverse_time_decay", learning_rate=0.3, options={"decay_steps": 4, "decay_rate": 0.5}
        ),
        lambda samples, passes, steps: 0.3 / (1 + 0.5 * steps / 4),
    ),
    (
        ScheduleSpec(name="pass_manual", learning_rate=0.3, args="0:1.0,1:0.25"),
        lambda samples, passes, steps: 0.3 if passes <= 0 else 0.075,
    ),
]
# Moves are longer than what clips gradients: servers that add moves must not clip them.
PENALTIES = [Penalties(), Penalties(l2=0.05), Penalties(l1=0.01, l2=0.05, clip=0.25)]
AVERAGE = AverageSpec(window=0.5, min_window=2, max_window=5)

OWN: dict[str, Any] = {
    "learning_rate": 2.0,
    "momentum": 0.3,
    "l1_rate": 0.0,
    "l2_rate": 0.03,
    "gradient_clipping_threshold": 0.3,
}
ROWS = RowsSpec(initial=RowInitial("uniform", -1.0, 1.0), seed=3)
DENSE = (
    ParameterSpec(name="w", shape=(5, 4)),
    ParameterSpec(name="own w", shape=(3,), **OWN),
)
PACKED = (
    ParameterSpec(name="t", shape=(6, 3), sparse=True),
    ParameterSpec(name="own t", shape=(5, 2), sparse=True, **OWN),
)
OPENED = (
    ParameterSpec(name="u", shape=(OPEN, 3), sparse=True, rows=ROWS),
    ParameterSpec(name="own u", shape=(OPEN, 2), sparse=True, rows=ROWS, **OWN),
)
