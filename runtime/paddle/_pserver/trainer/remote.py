"""RemoteExchange: training with parameter servers. Splits what a trainer gives over shards and joins the
answers.

It must never know a rule or a mode: shards do. It asks all shards before it waits for any. A step is under
way from ``commit`` until it is settled: whatever else is asked settles it first, or as much as it needs.

Guarantee: see :class:`paddle._engine.exchange.Overlapping`; dense gradients are sent from where they were
computed (with another wire than float32: from where they were encoded), and new values are received where
they are used; with a shard of this machine and user neither travels (loan.py); a connection that breaks
changes nothing (line.py). After an error only ``close`` may be called.
"""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain

import numpy as np

from paddle._engine.arena import zeros
from paddle._engine.exchange import ModeSpec, ParameterSpec, Past, StepReport, UpdateSpec
from paddle._engine.rows import SparseRows, TableRows
from paddle._engine.rules import needs_whole
from paddle._pserver.errors import PserverError
from paddle._pserver.memory.gradient_room import GradientRoom, room_for
from paddle._pserver.options import Role
from paddle._pserver.protocol.encoding import Encoder
from paddle._pserver.protocol.messages import PROTOCOL, Declare, Declared, EndPass, Hello, Push
from paddle._pserver.protocol.placement import check_ports
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer import given, past_told
from paddle._pserver.trainer.account import Account
from paddle._pserver.trainer.agreement import agreed, check_versions
from paddle._pserver.trainer.client import Client, Notice
from paddle._pserver.trainer.dense_shard import DenseShard
from paddle._pserver.trainer.flight import Flight
from paddle._pserver.trainer.greeting import Greeting, Place
from paddle._pserver.trainer.handed import Handed
from paddle._pserver.trainer.leaving import leave
from paddle._pserver.trainer.line import Line
from paddle._pserver.trainer.meantime import loading
from paddle._pserver.trainer.meeting import meet
from paddle._pserver.trainer.places import Where, places_of
from paddle._pserver.trainer.question import Patience
from paddle._pserver.trainer.sieve import Sieve
from paddle._pserver.trainer.sparse_shard import SparseShard
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.token_file import token_of
from paddle._streams import complain

_WORD_S = 2.0  # for a last word to pservers, which may be busy or not be there


class RemoteExchange:
    """The :class:`paddle._engine.exchange.Overlapping` of a job with ``pservers``: hosts that share ``port``
    and those that follow it, or, where that is None, endpoints ``host:port`` (places.py, also
    for ``group``)."""

    def __init__(
        self,
        pservers: Sequence[str],
        *,
        port: int | None = None,
        ports_num: int = 1,
        ports_num_for_sparse: int = 0,
        num_gradient_servers: int,
        trainer_id: int,
        connect_timeout_s: float = 60.0,
        call_timeout_s: float = 600.0,
        reconnect_timeout_s: float = 60.0,
        journal_bytes: int = 512 << 20,
        notice: Notice = complain,
        token_file: str = "",
        wire: WireSpec | None = None,
        tls_ca: str = "",
        shares_memory: bool = True,
        group: int = 0,
    ) -> None:
        self._wire = wire or WireSpec()
        self._connect_timeout_s = connect_timeout_s
        token = token_of(token_file, notice)
        trust = read_trust(tls_ca) if tls_ca else None
        incarnation = secrets.token_hex(8)
        self._places = places = places_of(pservers, port, ports_num, ports_num_for_sparse, group)
        dense, sparse = places.dense, places.sparse
        patience, self._place = Patience(reconnect_timeout_s, Account(journal_bytes)), Place()
        client = partial(Client, call_timeout_s=call_timeout_s, notice=notice, token=token, trust=trust)

        def line(role: Role, place: Where) -> Line:
            hello = Hello(PROTOCOL, trainer_id, num_gradient_servers, role, incarnation)
            make = partial(client, place.host, place.port, f"{role} shard", path=place.path)
            return Line(make, Greeting(hello, self._place), notice, patience)

        self._dense = [DenseShard(line("dense", place), i, len(dense)) for i, place in enumerate(dense)]
        self._sparse = [SparseShard(line("sparse", place), i, len(sparse)) for i, place in enumerate(sparse)]
        self._shards: list[DenseShard | SparseShard] = [*self._dense, *self._sparse]
        self._flight = Flight(self._dense, self._sparse)
        for shard in self._shards:
            shard.line.on_idle = self._look_around
        self._name((), ModeSpec())
        self._update: UpdateSpec | None = None
        self._arrays: dict[str, np.ndarray] = {}
        self._room: GradientRoom | None = None
        self._steps = self._passes = self._pass_id = self._shrink = self._pace = 0
        self.next_pass = self.passed = 0  # where this trainer begins in its data; see Declared
        self._is_in_step, self._shares, self._cut, self._lacking = True, shares_memory, False, False
        self._report, self._process, self._past = StepReport(0), os.getpid(), Past()
        self._is_first, self._notice = not trainer_id, notice

    def _look_around(self) -> None:
        """While one shard is waited for another may have lost this trainer, and others may wait for that."""
        for shard in self._shards:
            shard.line.look()

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        given.check_values(values, parameters)
        self._name(parameters, update.mode)
        self._update = update
        self._is_in_step, self._gives = update.mode.is_in_step, update.mode.is_local
        self._arrays = {p.name: zeros(p.shape) for p in parameters if not p.is_open}
        try:
            check_ports(parameters, dense=len(self._dense), sparse=len(self._sparse))
        except PserverError:  # those that are there hear of it, and why
            with suppress(PserverError):
                self._meet(_WORD_S)
            raise
        with loading(parameters):
            declared = self._declared(update)
        self.next_pass, self.passed = max(each.place for each in declared)
        pairs = zip(self._shards, declared, strict=True)
        seeding = [chain(shard.remind(self._past), shard.seed(values)) for shard, each in pairs if each.seed]
        for said in seeding:
            next(said, None)  # all have theirs before one is waited for
        for said in seeding:
            deque(said, maxlen=0)
        self._place.begin(self.next_pass)
        for shard in self._shards:
            shard.line.begin(in_step=self._is_in_step)
        self._share()
        self.pull()
        return self._arrays

    def _declared(self, update: UpdateSpec) -> list[Declared]:
        """Meet the shards and say what is trained; what each answers."""
        self._greet()
        for delivery in self._flight.deliveries:
            delivery.bind(self._parameters, self._arrays, self._wire, whole=needs_whole(update.rule))
        for sparse in self._sparse:
            sparse.bind(self._parameters, self._arrays, self._wire)
        for shard in self._shards:
            shard.line.declare(Declare(self._parameters, update, shard.index, shard.count, self._wire))
        return [shard.line.hear_declared() for shard in self._shards]

    def decline(self, parameters: Sequence[ParameterSpec], failure: str | None = None) -> None:
        """Say goodbye in a job in which this trainer has had no part: else it would be waited for."""
        self._name(parameters, ModeSpec())
        self._meet(self._connect_timeout_s)
        self.close(failure)

    def _name(self, parameters: Sequence[ParameterSpec], mode: ModeSpec) -> None:
        self._parameters, self._named = tuple(parameters), {p.name: p for p in parameters}
        self._dense_ones = [p for p in parameters if not p.sparse]
        self._sparse_ones = [p for p in parameters if p.sparse]
        if parameters and self._places.are_endpoints and not self._sparse_ones:
            self._shards = [*self._dense]
            self._sparse.clear()
        self._encoder = Encoder(self._wire, mode)
        self._handed = Handed(self._dense_ones, self._encoder)

    def _share(self) -> None:
        """Share memory with dense shards of this machine."""
        near = [shard for shard in self._dense if shard.line.client.is_near] if self._shares else []
        if near and self._wire.is_plain:  # in other numbers they are made to travel
            self._room = room_for(self._parameters)
            self._handed = Handed(self._dense_ones, self._encoder, self._room)
        for shard in near:
            shard.line.share(self._room)

    def room(self) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        return self._room.arrays if self._room is not None else {}

    def _meet(self, within_s: float) -> None:
        meet([shard.line for shard in self._shards], within_s)

    def _greet(self) -> None:
        self._meet(self._connect_timeout_s)
        lines = [shard.line for shard in self._shards]
        self._pace = max(line.welcome.pace for line in lines)
        self._check_versions(versions := agreed(lines, in_step=self._is_in_step, begins=self._is_first))
        if self._is_first and any(versions) and all(line.welcome.ready for line in lines):
            self._notice(f"training goes on from step {max(versions)}, with the values that pservers have")

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """See Exchange."""
        wanted = {name: given.unique_rows(name, ids, self._sparse_ones) for name, ids in rows.items()}
        self._flight.settle_sparse()
        self._bring(Sieve(wanted))

    def _bring(self, wanted: Sieve, into: given.Arrays | None = None, *, peeks: bool = False) -> None:
        for shard in self._sparse:
            shard.ask_rows(wanted, peeks=peeks)
        for shard in self._sparse:
            shard.hear_rows(into)

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        given.open_tables(ids, self._parameters)
        self._flight.settle_sparse()
        widths = {table.name: table.shape[1] for table in self._sparse_ones if table.is_open}
        rows = {name: np.empty((len(ids[name]), widths[name]), np.float32) for name in ids}
        self._bring(Sieve(ids), rows, peeks=not training)
        return rows

    def step(self, gradients: given.Gradients, samples: int, *, rate: float | None = None) -> StepReport:
        """See Exchange."""
        self.commit(gradients, samples, rate=rate)
        return self.settle()

    def begin_step(self) -> None:
        """See Overlapping."""
        self._flight.begin()

    def give(self, name: str, gradient: np.ndarray) -> None:
        """See Overlapping."""
        self.settle()
        if not self._encoder.keeps:  # what a batch that is given up has cut off must not be
            parameter = self._named[name]
            held = given.dense({name: gradient}, parameter).reshape(-1)
            self._flight.give(name, self._encoder.dense(parameter, held))

    def commit(self, gradients: given.Gradients, samples: int, *, rate: float | None = None) -> None:
        """See Overlapping."""
        self.settle()
        given.check_names(gradients, self._named.keys())
        samples = given.count(samples, "samples")
        encoder, rows = self._encoder, {}
        if self._sparse_ones:
            merged = given.all_merged(gradients, self._sparse_ones, given=self._gives)
            rows = {name: encoder.rows(part) for name, part in merged}
        dense = self._handed.coded(gradients)
        self._steps, self._pace = self._steps + 1, self._pace + 1
        push = Push(
            self._steps,
            self._pass_id,
            samples,
            shrink=self._shrink,
            pace=self._pace,
            cut=self._cut,
            lacking=self._lacking,
            rate=None if rate is None else given.rate(rate),
        )
        self._shrink = 0
        self._flight.push(push, dense, rows, forms=encoder.has_forms, is_in_room=self._room is not None)

    def settle(self, names: Collection[str] | None = None) -> StepReport:
        """See Overlapping."""
        if self._flight.is_under_way:
            self._flight.settle(names)
            if self._sparse and (names is None or any(p.name in names for p in self._sparse_ones)):
                self._flight.settle_sparse()
            if names is None and (answers := self._flight.end()):
                self._check_versions(versions := [answer.version for answer in answers])
                dropped, lacking, wants_cut = 0, False, False
                for answer in answers:  # by hand, as they are few: a generator costs more than what it gives
                    dropped += answer.dropped
                    lacking |= answer.lacking
                    wants_cut |= answer.wants_cut
                self._report = StepReport(max(versions), dropped)
                self._lacking, self._cut = lacking, wants_cut and not lacking
        return self._report

    def _check_versions(self, versions: Sequence[int]) -> None:
        """Where trainers are in step all shards have applied the same steps."""
        if self._is_in_step and len(versions) > 1:
            check_versions([shard.line for shard in self._shards], versions, self._steps)

    def begin_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._pass_id = given.count(pass_id, "passes")

    def end_pass(self, pass_id: int) -> None:
        """See Exchange."""
        end = EndPass(given.count(pass_id, "passes"), self._passes + 1, self._shrink)
        self.settle()
        self._passes, self._shrink, self._pace = self._passes + 1, 0, 0
        for shard in self._shards:
            shard.line.send(end, asking=f"to end pass {pass_id}")
        for dense in self._dense:
            dense.hear_values()
            self._place.over = pass_id + 1  # as soon as one has said so, for another may have gone back
        for sparse in self._sparse:
            sparse.hear_done()
        self._place.next_pass = self._place.over = pass_id + 1

    def fetch(self) -> None:
        """See Exchange."""
        self.pull()
        self._pull_tables()

    def export(self, name: str) -> SparseRows:
        """See Exchange."""
        none = TableRows.none(given.open_table(name, self._parameters).shape[1])
        return TableRows.concatenate([none, *self._rows(name, ())]).sorted()

    def _rows(self, name: str, slots: Sequence[str]) -> Iterator[TableRows]:
        self.settle()
        for shard in self._sparse:
            yield from shard.export(name, slots)

    def go_on_from(self, past: Past) -> None:
        """See Remembering."""
        self._past = past

    def rows_of(self, table: str) -> Iterator[TableRows]:
        """See Remembering."""
        return self._rows(table, given.slots(given.open_table(table, self._parameters), self._update))

    @property
    def steps(self) -> int:
        """See Remembering."""
        self.settle()
        return self._report.version

    def remembered(self, parameter: str, slot: str) -> np.ndarray | None:
        """See Remembering."""
        declared = next((p for p in self._parameters if p.name == parameter and not p.is_open), None)
        if declared is None or slot not in given.slots(declared, self._update):
            return None
        self.settle()
        return past_told.recalled(self._sparse if declared.sparse else self._dense, declared, slot)

    def shrink(self, threshold: int) -> None:
        """See Exchange."""
        given.check_threshold(threshold)
        self._shrink = threshold

    def averages(self) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        given.check_averaged(self._update)
        self.settle()
        arrays = {p.name: np.zeros(p.shape, np.float32) for p in self._parameters}
        for shard in self._dense:
            shard.ask_values(average=True)
        for shard in self._dense:
            shard.hear_averages(arrays)
        self._pull_tables(arrays)
        return arrays

    def _pull_tables(self, averages: Mapping[str, np.ndarray] | None = None) -> None:
        """All rows of all tables that are not open; of ``averages``, where given, and into these."""
        for index in (index for index, table in enumerate(self._sparse_ones) if not table.is_open):
            for shard in self._sparse:
                shard.ask_table(index, average=averages is not None)
            for shard in self._sparse:
                shard.hear_table(index, averages)

    def pull(self) -> None:
        """Bring the dense parameters up to date."""
        self.settle()
        counting = [] if self._is_in_step else self._sparse  # how old a gradient is
        for dense in self._dense:
            dense.ask_values()
        for sparse in counting:
            sparse.ask_values()
        versions = [dense.hear_values().version for dense in self._dense]
        versions += [sparse.hear_done().version for sparse in counting]
        self._report = StepReport(max(versions, default=self._report.version), self._report.dropped)

    def changes(self) -> Iterator[Mapping[str, SparseRows]]:
        """The rows of sparse parameters that were changed since this was last asked, portion by portion; see
        changes.py. Nothing else may be asked before it is at its end."""
        self.settle()
        asked = self._sparse if self._sparse_ones else []
        while asked:
            for shard in asked:
                shard.ask_changes()
            for shard in asked:
                shard.hear_count()
            for shard in asked:
                yield shard.hear_changes()
            asked = [shard for shard in asked if shard.has_more_changes]

    def close(self, failure: str | None = None) -> None:
        """See Exchange. What failed is told, though the caller may not. In a forked process, which has these
        connections too: says nothing."""
        if os.getpid() == self._process:
            failure = failure or self._flight.failure()
            self._flight.leave()
            leave([shard.line for shard in self._shards], failure)
        for shard in self._shards:
            shard.line.close()
