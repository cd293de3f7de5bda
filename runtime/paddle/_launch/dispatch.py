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
from typing import Any, Protocol

from paddle._launch.agent.manifest import Item, Refused, check_path, written
from paddle._launch.delta import Delta
from paddle._launch.digests import DigestCache
from paddle._launch.errors import DeliveryError, DeliveryRefused, DeliveryStopped
from paddle._launch.machines.shards import share
from paddle._launch.workspace import Entry
from paddle._visible import visible

PATIENCE_S = 60.0
KEPT = 4 << 30  # bytes of earlier dispatches that a node keeps, to be sent less the next time
_LONGEST_ANSWER = 1 << 26
_BEAT = b'{"beat": 1}'
Span = tuple[Path, int, int]  # of a file, from which byte to which


class Line(Protocol):
    """A connection to a node's receiver."""

    def send(self, data: memoryview) -> None:
        """Send all of it, at the node's pace; raises OSError where nobody receives any more."""
        ...

    def receive(self) -> bytes:
        """Give some bytes of what it says, and none at the end."""
        ...


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
        line: Line,
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
        answers = _Answers(line)
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
        _send(line, json.dumps(order).encode() + b"\n", answers)
        _send(line, manifest, answers)
        delta = self._delta(_spans(self._named(entries), answers.need()))
        sent = 0
        tell(sent, delta.size)
        for number in range(len(delta)):
            if is_stopped():
                raise DeliveryStopped(f"{place} was not finished: the launch was stopped.")
            chunk = delta.chunk(number)
            _send(line, chunk, answers)
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
    """What a receiver says, line by line. What is no answer, such as a shell's greeting, is passed over."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._rest = b""

    def need(self) -> list[tuple[int, int]]:
        """What it lacks: numbers of items, and from which byte on."""
        match self._next():
            case {"need": [*rows]}:
                return [_pair(row) for row in rows]
        raise DeliveryError("what its receiver says is not understood. Install the same release there.")

    def done(self) -> None:
        """Wait until the workspace is in place; raises what kept it from that."""
        if "done" not in self._next():
            raise DeliveryError("what its receiver says is not understood. Install the same release there.")

    def _next(self) -> dict[str, Any]:
        said = b""
        while (line := self._whole_line()) is not None:
            if answer := _answer(line):
                return _sound(answer)
            said = said if line == _BEAT else line
        words = visible((self._rest or said)[-300:].decode("utf-8", "replace").strip())
        raise DeliveryError(
            f"its receiver ended before the workspace was in place{f', and said: {words}' if words else ''}. "
            "What arrived is kept there: start again, and only the rest is sent."
        )

    def _whole_line(self) -> bytes | None:
        """The next one, which may have come with the one before; None where no whole one comes."""
        while b"\n" not in self._rest:
            data = self._line.receive()
            if not data or len(self._rest) > _LONGEST_ANSWER:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _answer(line: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and {"need", "done", "failed"} & answer.keys() else None


def _sound(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that is no failure; raises that."""
    if "failed" not in answer:
        return answer
    text = visible(str(answer["failed"])[:1000])
    raise (DeliveryRefused if answer.get("refused") is True else DeliveryError)(text)


def _pair(row: object) -> tuple[int, int]:
    match row:
        case [int(number), int(offset)]:
            return number, offset
    raise DeliveryError("its receiver asks for what no package has. Install the same release there.")


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


def _send(line: Line, data: bytes | memoryview, answers: _Answers) -> None:
    """Send, and if nobody receives, tell what was said last."""
    try:
        line.send(memoryview(data))
    except OSError as error:
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
