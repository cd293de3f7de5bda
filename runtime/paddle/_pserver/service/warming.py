"""Warming: what compiled code a shard's first step needs is loaded before a trainer can ask for it.

Loading it takes a second, on a busy machine several, and would keep the shard's only thread from all else. So
it is done in a thread of its own, in two parts: what every shard needs once it serves, and when trainers have
declared a model, what this one needs. Until that is done their declarations are not answered.

It must never know a trainer's values. Guarantee: whoever hears Declared finds all of it loaded; where loading
fails, the first step says why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._engine.rows import OPEN
from paddle._engine.rules.rule import kernels
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import Answer, Declare, Declared, PullRows, Push
from paddle._pserver.protocol.outlet import Outlet
from paddle._pserver.protocol.wire import WHOLE, WireSpec
from paddle._pserver.service.shard_clock import ShardClock
from paddle._pserver.shard.decoding import Decoder
from paddle._pserver.shard.effects import Send
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.shard import Shard
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.tables.streamed import pieces
from paddle._pserver.tables.tables import Tables

_HEIGHT, _WIDTH = 3, 2

_log = logging.getLogger("paddle.pserver")


class Warming:
    """See the module's text. ``release(told)``: tell these now; ``clock``: the shard's."""

    def __init__(self, release: Callable[[Sequence[Send]], None], clock: ShardClock) -> None:
        self._release, self._clock = release, clock
        self._declared: Declare | None = None  # for which it was begun
        self._held: dict[int, Send] = {}
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Load what every shard needs."""
        asyncio.get_running_loop().run_in_executor(None, kernels)

    def holds(self, told: Send, shard: Shard) -> bool:
        """Whether ``told`` is told later."""
        if self._held:
            self._held.pop(told.session, None)  # what comes after it makes it void
        if not isinstance(told.message, Declared) or (declared := shard.declaration) is None:
            return False
        if self._declared is not declared:
            self._declared = declared
            self._task = asyncio.get_running_loop().create_task(self._load(declared, shard.options))
        if self._task is None or self._task.done():
            return False
        self._held[told.session] = told
        return True

    async def _load(self, declared: Declare, options: ShardOptions) -> None:
        try:
            with self._clock.standing():  # nobody can do what the others wait for
                await asyncio.to_thread(warm, declared, options)
        except Exception:
            _log.exception("the code of the first step could not be loaded before it")
        if self._declared is declared:
            held, self._held, self._task = list(self._held.values()), {}, None
            self._release(held)


def warm(declared: Declare, options: ShardOptions) -> None:
    """Take some steps with a model of the same kinds, as small as can be."""
    all_small = (_small(parameter, declared.wire) for parameter in declared.parameters)
    kinds = {repr(small): small for small in all_small}
    parameters = tuple(replace(kind, name=str(number)) for number, kind in enumerate(kinds.values()))
    small = Declare(parameters, declared.update, 0, 1, declared.wire)
    tables = Model(small, ShardOptions(roles=options.roles)).tables
    for step, (is_ours, ids) in enumerate([(True, (2, 0)), (not options.is_shown, (0,)), (True, (1, 2))], 1):
        dense = [np.zeros(segment.size, np.float32) for segment in tables.layout.segments]
        for array in dense:
            array.setflags(write=is_ours)  # one in a trainer's own memory is not
        index = np.array(ids, np.int64)
        for table in tables.rows.values():  # as a pull does
            table.gather(index)
        rows = [
            Rows(index, np.zeros((len(ids), table.held.width), np.float32)) for table in tables.rows.values()
        ]
        tables.apply([Gradient(dense, rows)] * (2 if step == 3 else 1), samples=step, passes=0, step=step)
    _take_and_tell(small, tables)
    if options.snapshots is not None:
        _read_in_pieces(tables)


def _take_and_tell(small: Declare, tables: Tables) -> None:
    """A push, and answers, in the numbers of the job's wire."""
    wire, layout, counts = small.wire, tables.layout, (1,) * len(tables.rows)
    push = Push(1, 0, 1, counts, forms=(1,) * (len(layout.segments) + len(counts)))
    if wire.name != "float32":
        decoder = Decoder(wire, small.update.mode, tables)
        _, into, decode = decoder.place(push, counts, decoder.length(push, counts))
        for part in into:
            part[:] = bytes(part.nbytes)
        decode()
    outlet = Outlet()
    for asked, values in ((push, [tables.values]), (PullRows(counts), [np.zeros((1, _WIDTH), np.float32)])):
        outlet.asked(0, asked)
        outlet.body(0, Answer(1), values, wire)


def _read_in_pieces(tables: Tables) -> None:
    """A cut of tables as large ones are cut."""
    for array in tables.cut(worth_bytes=0).arrays.values():
        for _ in pieces(array):
            pass


def _small(parameter: ParameterSpec, wire: WireSpec) -> ParameterSpec:
    """One with the same code."""
    if not parameter.sparse:
        return replace(parameter, name="", shape=(WHOLE + 1 if wire.picks(parameter) else _WIDTH,))
    return replace(parameter, name="", shape=(OPEN if parameter.is_open else _HEIGHT, _WIDTH))
