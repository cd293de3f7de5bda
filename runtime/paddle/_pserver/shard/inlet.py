"""Inlet: where the body of a trainer's message is received, one inlet per connection.

Gradients land in arrays that the inlet keeps from push to push, except where trainers take turns (turns.py):
there memory is bounded. They are decoded there where the job's wire wants it (decoding.py), and do not travel
where both sides see their memory (loan.py). Initial values land where they will live. It must never know a
socket.

Guarantee: nothing is received into an array that the shard still reads, and nothing is allocated before the
shard's layout has told that it may be that long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import get_args

import msgspec
import numpy as np

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.messages import Part, PullRows, Push, Remind, Request, Seed, Share, decode
from paddle._pserver.protocol.placement import DenseLayout
from paddle._pserver.shard.adding import Adding
from paddle._pserver.shard.decoding import Decode, Decoder, split
from paddle._pserver.shard.deposit import Deposit
from paddle._pserver.shard.loan import Loan
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.shard import Shard
from paddle._pserver.tables.gradient import NOTHING, Gradient, Rows
from paddle._pserver.tables.tables import Tables

_REQUESTS = get_args(Request)
NO_LAYOUT = DenseLayout((), (), 0)


class Inbound(msgspec.Struct, frozen=True):
    """A message and the arrays that came in its body.

    ``decode``: to be called once, where it is given, when the body is there; BadMessage where it cannot be.
    """

    message: Request
    gradient: Gradient = NOTHING
    ids: tuple[np.ndarray, ...] = ()
    decode: Decode | None = None


class Inlet:
    """The ``place`` of a session's FrameReader."""

    def __init__(self, shard: Shard, session: int, loan: Loan | None = None) -> None:
        self.loan = loan or Loan()
        self.is_closed = False  # what came last is not dealt with yet, and lies here
        self._shard = shard
        self._session = session
        self._deposit = Deposit(NO_LAYOUT)
        self._shape: Tables | None = None  # for which it is
        self._raw = np.empty(0, np.uint8)
        self._decoder: Decoder | None = None
        self.adding: Adding | None = None  # takes what has come of the body that comes

    def place(self, kind: int, meta: memoryview, body_length: int) -> tuple[Inbound, Sequence[memoryview]]:
        """See :data:`paddle._pserver.protocol.framing.Place`."""
        message, self.adding = decode(kind, meta), None
        if self.is_closed and body_length:
            raise BadMessage("values came before the last question was answered")
        if isinstance(message, Push):
            model = self._shard.expecting(self._session)
            place = self._place_push if model.most_early is None else self._place_in_turn
            return place(message, model, body_length)
        if not isinstance(message, _REQUESTS):
            raise BadMessage(f"a trainer does not send {type(message).__name__}")
        if not body_length and not isinstance(message, Seed | PullRows | Share):
            return Inbound(message), ()
        model = self._shard.expecting(self._session)
        tables = model.tables
        if isinstance(message, Seed):
            return Inbound(message), [bytes_of(self._shard.seeding(self._session).part(message.table))]
        if isinstance(message, Remind):
            return self._place_reminder(message, body_length)
        if isinstance(message, PullRows):
            return self._place_ids(message, tables)
        if isinstance(message, Share):
            return Inbound(message), ()
        if isinstance(message, Part):
            if model.declaration.wire.name != "float32":
                return self._place_coded(message, model, body_length)
            return Inbound(message), self._deposit_for(tables).part(message.number, message.segments)
        raise BadMessage(f"{type(message).__name__} brings {body_length} bytes that nobody asked for")

    def _place_in_turn(
        self, push: Push, model: Model, body_length: int
    ) -> tuple[Inbound, Sequence[memoryview]]:
        """In memory that is kept no longer than whoever has the gradient keeps it."""
        tables = model.tables
        is_whole = body_length == 4 * tables.layout.size and not (push.parts or push.forms or tables.rows)
        if is_whole and model.declaration.wire.name == "float32":
            self.adding = model.adding(self._session, push.step)
            if self.adding is not None:
                take = partial(self.adding.take, body_length)
                return Inbound(push, decode=take), self.adding.begin()
        placed = self._place_push(push, model, body_length)
        self._shape, self._deposit, self._decoder = None, Deposit(NO_LAYOUT), None
        return placed

    def _place_push(self, push: Push, model: Model, body_length: int) -> tuple[Inbound, Sequence[memoryview]]:
        if model.declaration.wire.name != "float32":
            return self._place_coded(push, model, body_length)
        is_word = not (body_length or push.counts or push.parts)
        if is_word and self.loan.has_gradient(model.tables):  # the shard reads it by itself
            return Inbound(push, Gradient(self.loan.gradient())), ()
        return self._place_gradient(push, model.tables, body_length)

    def _place_gradient(
        self, push: Push, tables: Tables, body_length: int
    ) -> tuple[Inbound, Sequence[memoryview]]:
        counts: Sequence[int] = ()
        sizes: Sequence[int] = ()
        of_rows = 0
        if push.counts or tables.rows:
            counts = _counted(push.counts, tables)
            sizes = [n * table.held.width for n, table in zip(counts, tables.rows.values(), strict=True)]
            of_rows = 8 * sum(counts) + 4 * sum(sizes)
        expected = 4 * tables.layout.size + of_rows
        if body_length != expected and not push.parts:
            raise BadMessage(f"this push should bring {expected} bytes and brings {body_length}")
        if push.forms:
            raise BadMessage("a push tells forms in a job whose gradients travel as they are")
        deposit = self._deposit_for(tables)
        dense = deposit.rest(push.parts)
        if not counts:
            return Inbound(push, deposit.gradient), dense
        raw = self._room(of_rows)
        ids = split(raw[: 8 * sum(counts)].view(np.int64), counts)
        values = split(raw[8 * sum(counts) :].view(np.float32), sizes)
        widths = [table.held.width for table in tables.rows.values()]
        rows = [Rows(i, v.reshape(-1, width)) for i, v, width in zip(ids, values, widths, strict=True)]
        return Inbound(push, Gradient(deposit.gradient.dense, rows)), [*dense, bytes_of(raw)]

    def _deposit_for(self, tables: Tables) -> Deposit:
        if self._shape is not tables:
            self._shape = tables
            self._deposit = Deposit(tables.layout)
        return self._deposit

    def _place_coded(
        self, push: Push | Part, model: Model, body_length: int
    ) -> tuple[Inbound, Sequence[memoryview]]:
        if isinstance(push, Part) or push.parts:
            raise BadMessage(
                f"gradients do not come in parts in a job whose wire is {model.declaration.wire.name}"
            )
        if self._decoder is None or self._shape is not model.tables:
            self._shape = model.tables
            declare = model.declaration
            self._decoder = Decoder(declare.wire, declare.update.mode, model.tables)
        counts = _counted(push.counts, model.tables)
        gradient, into, decode = self._decoder.place(push, counts, body_length)
        return Inbound(push, gradient, decode=decode), into

    def _place_reminder(self, remind: Remind, body_length: int) -> tuple[Inbound, Sequence[memoryview]]:
        """What is remembered of a parameter lands where it will live; rows of an open table on the way
        there."""
        model = self._shard.seeding(self._session)
        if not remind.rows:
            return Inbound(remind), [bytes_of(model.slot(remind.parameter, remind.slot))]
        table = model.tables.open_table(remind.parameter)
        if (count := remind.rows) > (most := model.tables.most(table)):
            raise BadMessage(f"{count} rows for {table.name!r}, of which {most} have room here")
        expected = count * (8 + 4 * table.held.width * (1 + len(table.slots)))
        if body_length != expected:
            raise BadMessage(f"these {count} rows should take {expected} bytes, and take {body_length}")
        raw = self._room(expected)
        ids, numbers = raw[: 8 * count].view(np.int64), raw[8 * count :].view(np.float32)
        return Inbound(remind, ids=(ids, numbers)), [bytes_of(raw)]

    def _place_ids(self, pull: PullRows, tables: Tables) -> tuple[Inbound, Sequence[memoryview]]:
        counts = _counted(pull.counts, tables)
        raw = self._room(8 * sum(counts))
        return Inbound(pull, ids=tuple(split(raw.view(np.int64), counts))), [bytes_of(raw)]

    def _room(self, length: int) -> np.ndarray:
        if len(self._raw) < length:
            self._raw = np.empty(length, np.uint8)
        return self._raw[:length]


def _counted(counts: Sequence[int], tables: Tables) -> Sequence[int]:
    """``counts``, one per table; a table has each row at most once."""
    if len(counts) != len(tables.rows):
        raise BadMessage(f"this shard keeps {len(tables.rows)} tables, the message tells of {len(counts)}")
    for count, table in zip(counts, tables.rows.values(), strict=True):
        if count > (most := tables.most(table)):
            what = "have room here" if table.held.parameter.is_open else "live here"
            raise BadMessage(f"{count} rows for {table.name!r}, of which {most} {what}")
    return counts
