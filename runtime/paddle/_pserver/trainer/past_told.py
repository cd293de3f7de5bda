"""The past, told: how trainer 0 says to a shard what a job goes on from, before the initial values; and asked
for, so that another job can.

It must never know where a past comes from. Guarantee: a message brings no more rows than an answer would;
whatever lives on another shard is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from paddle._engine.exchange import ParameterSpec, Past
from paddle._engine.rows import TableRows
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.messages import Remind
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.protocol.portion import rows_at_once
from paddle._pserver.trainer.line import Line


def told(line: Line, remind: Remind, body: Sequence[memoryview] = ()) -> Iterator[None]:
    """Say it, and pause before the answer."""
    line.send(remind, body, asking="to take what is remembered")
    yield
    line.answer()


def steps(line: Line, past: Past) -> Iterator[None]:
    """After how many steps it goes on."""
    if past.steps:
        yield from told(line, Remind(past.steps))


def of_table(line: Line, held: RowRange, past: Past) -> Iterator[None]:
    """What is remembered of a table's rows; of an open one the rows themselves."""
    name = held.parameter.name
    for slot, value in past.slots.get(name, {}).items():
        if held.count:
            rows = np.ascontiguousarray(value[held.rows])
            yield from told(line, Remind(parameter=name, slot=slot), [bytes_of(rows)])
    rows_told = past.rows.get(name)
    if rows_told is not None:
        yield from _rows(line, held, rows_told)


class Recalling(Protocol):
    """A shard that is asked what its rule remembers."""

    def ask_slot(self, parameter: str, slot: str) -> None:
        """Ask for what the rule remembers of a parameter."""
        ...

    def hear_slot(self, parameter: str, into: np.ndarray) -> None:
        """The answer: ``into``, in the parameter's shape, has what lives there."""
        ...


def recalled(shards: Sequence[Recalling], declared: ParameterSpec, slot: str) -> np.ndarray:
    """What all shards together remember of a parameter, in its shape."""
    found = np.zeros(declared.shape, np.float32)
    for shard in shards:
        shard.ask_slot(declared.name, slot)
    for shard in shards:
        shard.hear_slot(declared.name, found)
    return found


def _rows(line: Line, held: RowRange, rows: TableRows) -> Iterator[None]:
    mine = np.flatnonzero(held.pick(rows.ids))
    most = rows_at_once(held.width * (1 + len(rows.slots)))
    for begin in range(0, len(mine), most):
        here = mine[begin : begin + most]
        parts = [rows.ids[here], rows.values[here], *(slot[here] for slot in rows.slots.values())]
        remind = Remind(parameter=held.parameter.name, rows=len(here))
        yield from told(line, remind, [bytes_of(part) for part in parts])
