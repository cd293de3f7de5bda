"""Center: what trainers that update by themselves share, beside what each has of its own (local_updates.py).

It must never know when trainers meet. Guarantee: shards add what is pushed to the center and do nothing else
to it, whatever rule, rates, penalties and clipping the trainers have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from paddle._engine.exchange import ModeSpec, ParameterSpec, Remembering, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows


class Own(Remembering, Protocol):
    """What applies a trainer's rule."""

    def put(self, name: str, rows: SparseRows) -> None:
        """Give rows of an open table, each id once, other values; what their rule remembers stays."""
        ...

    def moves_idle_rows(self, table: str) -> bool:
        """Whether steps that pass a row of it by change it."""
        ...


class Center(Remembering, Protocol):
    """What trainers share, as one that updates by itself reaches it."""

    def pull(self) -> None:
        """Bring the dense parameters up to date."""
        ...

    def changes(self) -> Iterator[Mapping[str, SparseRows]]:
        """The rows that were changed since this was last asked, as they are now, portion by portion; see
        changes.py."""
        ...


def added(parameter: ParameterSpec) -> ParameterSpec:
    """A parameter of the center, to which shards add."""
    return replace(
        parameter,
        learning_rate=1.0,
        momentum=None,
        l1_rate=None,
        l2_rate=None,
        gradient_clipping_threshold=None,
    )


def adding(update: UpdateSpec) -> UpdateSpec:
    """How shards add to the center: descent at rate 1, along what was moved, with its sign turned."""
    return replace(
        update,
        rule=RuleSpec(name="sgd"),
        schedule=ScheduleSpec(learning_rate=1.0),
        l1_rate=0.0,
        l2_rate=0.0,
        gradient_clipping_threshold=0.0,
        reduce="mean" if is_mean(update.mode) else "sum",
    )


def is_mean(mode: ModeSpec) -> bool:
    """Whether what trainers push is averaged over those that meet."""
    return mode.name == "average" and mode.is_in_step
