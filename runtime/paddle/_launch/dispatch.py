"""A dispatch: how a package comes to nodes that lack some of it, over any connection that carries bytes.

What is said there is in agent/receiver.py, which is at the other end. It must never know what carries the
bytes, nor decide which nodes there are.

Guarantee: what is sent is what a node says it lacks, and that is held against the package. Nodes are served
at once, each at its own pace; files are hashed once for all of them and read once for those that lack the
same. However the other end behaves, ``deliver`` ends when its connection does.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from paddle._launch.agent.manifest import Item, Refused, check_path, written
from paddle._launch.delta import Delta
from paddle._launch.digests import DigestCache
from paddle._launch.errors import (
    DeliveryError,
    DeliveryRefused,
    DeliveryStopped,
    NodeLost,
    NodeSilent,
    NodeUnfit,
)
from paddle._launch.machines.reader import MOST, WORK_S, Reader
from paddle._launch.machines.said import Count, understood
from paddle._launch.machines.shards import share
from paddle._launch.workspace import Entry
from paddle._visible import visible

PATIENCE_S = 60.0
KEPT = 4 << 30  # bytes of earlier dispatches that a node keeps, to be sent less the next time
_LONGEST_ROW = 40  # bytes that a node needs to say of an item that it lacks it, and from where on
_LONGEST = 1000
_NOT_UNDERSTOOD = "what its receiver says is not understood. Install the same release there."
Span = tuple[Path, int, int]  # of a file, from which byte to which


class Wire(Protocol):
    """What leads to a node's receiver."""

    def send(self, data: memoryview) -> None:
        """Send all of it, at the node's pace; raises NodeLost where nobody receives any more."""
        ...

    def receive(self, most: int) -> bytes:
        """Give some bytes of what it says, at most so many, and none at the end."""
        ...


class _Answer(msgspec.Struct, frozen=True):
    """What a receiver says; see agent/receiver.py."""

    need: tuple[tuple[Count, Count], ...] | None = None
    done: Count | None = None
    failed: str | None = None
    refused: bool = False


class Dispatch:
    """One package on its way to ``nodes`` nodes.

    ``root``: ROOT_DIR there. ``shard_data``: see shards.py. ``limit``: bytes that a node keeps of dispatches.
    ``trainers``: their nodes, by rank, where that is not each of the nodes.
    """

    def __init__(
        self,
        package: Sequence[Entry],
        *,
        root: Path,
        nodes: int,
        digests: DigestCache,
        limit: int,
        shard_data: str = "",
        trainers: Sequence[int] | None = None,
    ) -> None:
        self._package = package
        self._root = root
        self._nodes = nodes
        self._trainers = range(nodes) if trainers is None else trainers
        self._digests = digests
        self._limit = limit
        self._shard_data = shard_data
        self._lock = threading.Lock()
        self._items: dict[Entry, Item] = {}
        self._manifests: dict[tuple[Entry, ...], bytes] = {}
        self._deltas: dict[tuple[Span, ...], Delta] = {}

    def prepare(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Hash the package, once; whoever delivers waits for that."""
        with self._lock:
            if self._items:
                return
            files = [entry.source for entry in self._package if entry.kind == "file"]
            digests = self._digests.of_all(files, is_stopped)
            for entry in self._package:
                _check_name(entry)
                if entry.kind == "file":
                    mode, mtime_ns, size, digest = digests[entry.source]
                    self._items[entry] = Item("file", entry.path, mode, mtime_ns, size, digest)
                else:
                    target = str(entry.source) if entry.kind == "link" else ""
                    self._items[entry] = Item(entry.kind, entry.path, target=target)

    def deliver(
        self,
        wire: Wire,
        node: int,
        place: Path,
        *,
        tell: Callable[[int, int], None] = lambda sent, total: None,
        is_stopped: Callable[[], bool] = lambda: False,
        replaces: bool = False,
    ) -> int:
        """Make a node's workspace; gives the number of bytes sent. ``tell``: how many are, of how many."""
        self.prepare(is_stopped)
        entries = share(self._package, self._shard_data, node, self._trainers)
        answers = _Answers(wire, len(entries))
        manifest = self._manifest(entries)
        order = {
            "dispatch": 1,
            "root": str(self._root),
            "place": str(place),
            "replaces": replaces,
            "limit": self._limit,
            "patience_s": PATIENCE_S,
            "manifest": len(manifest),
        }
        _send(wire, json.dumps(order).encode() + b"\n", answers)
        _send(wire, manifest, answers)
        delta = self._delta(_spans(self._named(entries), answers.need()))
        sent = 0
        tell(sent, delta.size)
        for number in range(len(delta)):
            if is_stopped():
                raise DeliveryStopped(f"{place} was not finished: the launch was stopped.")
            chunk = delta.chunk(number)
            _send(wire, chunk, answers)
            sent += len(chunk)
            tell(sent, delta.size)
        answers.done()
        return delta.size

    def _named(self, entries: Sequence[Entry]) -> list[tuple[Item, Path]]:
        return [(self._items[entry], entry.source) for entry in entries]

    def _manifest(self, entries: tuple[Entry, ...]) -> bytes:
        with self._lock:
            if entries not in self._manifests:
                self._manifests[entries] = written(self._items[entry] for entry in entries)
            return self._manifests[entries]

    def _delta(self, spans: tuple[Span, ...]) -> Delta:
        with self._lock:
            return self._deltas.setdefault(spans, Delta(spans))


class _Answers:
    """What a receiver says to a manifest of so many items."""

    def __init__(self, wire: Wire, items: int) -> None:
        self._reader = Reader(wire.receive, most=MOST + _LONGEST_ROW * items)

    def need(self) -> tuple[tuple[int, int], ...]:
        """What it lacks: numbers of items, and from which byte on."""
        if (need := self._next().need) is None:
            raise DeliveryError(_NOT_UNDERSTOOD)
        return need

    def done(self) -> None:
        """Wait until the workspace is in place; raises what kept it from that."""
        if self._next().done is None:
            raise DeliveryError(_NOT_UNDERSTOOD)

    def _next(self) -> _Answer:
        """An answer that is no failure; raises that."""
        if (said := self._reader.answer(WORK_S)) is None:
            said_last = f", and said: {words}" if (words := self._reader.last_words()) else ""
            raise DeliveryError(
                f"its receiver ended before the workspace was in place{said_last}. What arrived is kept "
                "there: start again, and only the rest is sent."
            )
        try:
            answer = understood(said, _Answer)
        except NodeUnfit as error:
            raise DeliveryError(_NOT_UNDERSTOOD) from error
        if answer.failed is None:
            return answer
        raise (DeliveryRefused if answer.refused else DeliveryError)(visible(answer.failed[:_LONGEST]))


def _spans(items: Sequence[tuple[Item, Path]], need: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """The bytes that a node needs, which it may ask for once each."""
    spans: dict[int, Span] = {}
    for number, offset in need:
        is_there = 0 <= number < len(items) and number not in spans
        if not is_there or items[number][0].kind != "file" or not 0 <= offset <= items[number][0].size:
            raise DeliveryError(
                "its receiver asks for what the package does not have. Install the same release there."
            )
        item, source = items[number]
        spans[number] = (source, offset, item.size)
    return tuple(spans.values())


def _send(wire: Wire, data: bytes | memoryview, answers: _Answers) -> None:
    """Send, and if nobody receives, tell what was said last."""
    try:
        wire.send(memoryview(data))
    except NodeSilent:
        raise
    except NodeLost as error:
        answers.done()
        raise DeliveryError(
            f"its receiver ended too soon: {error}. Start again: only the rest is sent."
        ) from error


def _check_name(entry: Entry) -> None:
    try:
        check_path(entry.path)
    except Refused as error:
        raise DeliveryError(
            f"cannot send {visible(repr(entry.path))}: {error}. Give it another name."
        ) from error
