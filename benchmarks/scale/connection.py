"""Connection: one simulated trainer's connection to one server, and the sizes of what passes on it.

A connection may stand for several, to servers that are alike (``weight``): the trainer's side then does,
sends and receives as much as for all of them, and the one server that is simulated its own part. It must
never know when something is asked: that is the trainer's script.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from benchmarks.scale.agenda import Mailbox, Wait
from benchmarks.scale.cores import Thread
from benchmarks.scale.costs import Costs
from benchmarks.scale.links import WIRE, Card, Network, pieces
from benchmarks.scale.server import Question, Server
from benchmarks.scale.workload import Workload, slices
from paddle._pserver.shard.changes import looks_at_all

_HEADER_BYTES = 64  # a frame's header, meta and trailer

Steps = Generator[Wait, Any, None]


@dataclass(frozen=True, slots=True)
class Part:
    """One of ``count`` alike servers' part of a workload."""

    workload: Workload
    costs: Costs
    count: int
    is_live: bool  # whether answers are copied, as they may change while they are sent

    @property
    def floats(self) -> float:
        """Of the dense parameters."""
        return self.workload.floats / self.count

    @property
    def slices(self) -> float:
        """Pieces of memory of these."""
        return slices(self.workload.floats, self.count)


class Connection:
    """See the module's text."""

    def __init__(
        self,
        trainer: int,
        server: Server,
        part: Part,
        weight: int,
        network: Network,
        thread: Thread,
        card: Card,
    ) -> None:
        self._trainer, self._server, self._part, self.weight = trainer, server, part, weight
        self._network, self._thread, self._card = network, thread, card
        self._mailbox, self._asked = Mailbox(), (0.0, 1)  # seconds to receive the answer, and its pieces
        self._changed = self._news = 0.0
        self._told = 0  # pushes of all when it last heard of changes

    def answered(self, question: Question) -> None:
        """The server sends a piece of the answer to ``question``."""
        size = WIRE * question.answer_bytes / question.answer_pieces
        self._network.carry(self._server.card, self._card, size, size * self.weight, self._mailbox.put, None)

    def hear(self) -> Steps:
        """Wait for the answer to what was asked, and receive it."""
        seconds, count = self._asked
        for _ in range(count):
            yield self._mailbox.take
            yield self._work(seconds / count)

    def _work(self, seconds: float) -> Wait:
        return self._thread.work(seconds * self.weight)

    def _ask(self, question: Question, size_bytes: float, seconds: float, hear_s: float) -> Steps:
        """Send it, in pieces; it takes the trainer so many ``seconds``."""
        self._asked = hear_s, question.answer_pieces
        count = pieces(size_bytes)
        size = WIRE * (size_bytes + _HEADER_BYTES) / count
        for number in range(1, count + 1):
            yield self._work(seconds / count)
            self._network.carry(
                self._card,
                self._server.card,
                size * self.weight,
                size,
                self._server.receive,
                question,
                question.seconds / count,
                number == count,
            )

    # Dense servers.

    def ask_values(self, *, is_push: bool) -> Steps:
        """Push a gradient, or pull; the answer has the values."""
        part, ours, theirs = self._part, self._part.costs.trainer, self._part.costs.shard
        size = 4 * part.floats
        out = size if is_push else 0.0
        send_s = ours.of_values_s(out, is_push=is_push) + out * ours.sent_byte_s
        send_s += part.slices * ours.slice_s * is_push
        hear_s = ours.of_values_s(size) + size * ours.received_byte_s + part.slices * ours.slice_s
        answer_byte_s = theirs.copied_byte_s if part.is_live else theirs.sent_byte_s
        question = Question(
            self._trainer,
            self,
            is_push,
            seconds=theirs.of_values_s(out, is_push=is_push) + out * theirs.received_byte_s,
            answer_s=theirs.of_values_s(size) + size * answer_byte_s,
            answer_bytes=size + _HEADER_BYTES,
            answer_pieces=pieces(size),
            floats=part.floats if is_push else 0.0,
        )
        yield from self._ask(question, out, send_s, hear_s)

    # Sparse servers.

    def ask_rows(self) -> Steps:
        """Ask for the rows of a batch."""
        part, ours, theirs = self._part, self._part.costs.trainer, self._part.costs.shard
        load, rows = part.workload, part.workload.rows / part.count
        ids, values, row_s = 8 * rows, 4 * load.width * rows, ours.pulled_row_s / 2
        question = Question(
            self._trainer,
            self,
            False,
            seconds=theirs.of_rows_s(ids),
            answer_s=theirs.of_rows_s(values) + rows * theirs.pulled_row_s,
            answer_bytes=values + _HEADER_BYTES,
        )
        send_s, hear_s = ours.of_rows_s(ids) + rows * row_s, ours.of_rows_s(values) + rows * row_s
        yield from self._ask(question, ids, send_s, hear_s)

    def push_rows(self, batches: int) -> Steps:
        """Push the rows of so many batches."""
        part, ours, theirs = self._part, self._part.costs.trainer, self._part.costs.shard
        load = part.workload
        rows = (load.touched(batches) if batches > 1 else load.rows) / part.count
        size = load.row_bytes * rows
        send_s = ours.of_rows_s(size, is_push=True) + rows * ours.pushed_row_s
        question = Question(
            self._trainer,
            self,
            True,
            seconds=theirs.of_rows_s(size, is_push=True) + rows * theirs.received_row_s,
            answer_s=theirs.of_rows_s(0),
            answer_bytes=_HEADER_BYTES,
            rows=rows,
        )
        yield from self._ask(question, size, send_s, ours.of_rows_s(0))

    def count_changes(self, batches: int, *, own: bool) -> Steps:
        """Ask how many rows were changed, where each push was of ``batches``; ``own``: by its own, too."""
        told, self._told = self._told, self._server.ledger.pushes
        pushes, load, share = max(0, self._told - told - (not own)), self._part.workload, self._part.count
        self._changed = load.touched(pushes * batches) / share
        self._news = max(0.0, self._changed - own * load.touched(batches) / share)
        listed, held = pushes * load.touched(batches) / share, load.height / share
        costs = self._part.costs.shard
        is_long = looks_at_all(listed, held)
        yield from self._plain(0.0, held * costs.looked_row_s if is_long else listed * costs.listed_row_s)

    def ask_changes(self, told_row_s: float) -> Steps:
        """Ask for these rows; each that it did not change itself takes the trainer so long to take in."""
        yield from self._plain(self._changed, 0.0, self._news * told_row_s)

    def _plain(self, rows: float, found_s: float, heard_s: float = 0.0) -> Steps:
        ours, theirs = self._part.costs.trainer, self._part.costs.shard
        size = rows * self._part.workload.row_bytes
        question = Question(
            self._trainer,
            self,
            False,
            seconds=theirs.of_rows_s(0) + found_s,
            answer_s=theirs.of_rows_s(size) + rows * theirs.pulled_row_s,
            answer_bytes=size + _HEADER_BYTES,
            answer_pieces=pieces(size),
        )
        hear_s = ours.of_rows_s(size) + size * ours.received_byte_s + heard_s
        yield from self._ask(question, 0.0, ours.of_rows_s(0), hear_s)
