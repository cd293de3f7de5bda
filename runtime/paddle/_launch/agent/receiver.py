"""The receiver: what a dispatch starts on a node. It makes a workspace of what it is sent and of what it has.

It is started by path, ``python -I -S -X utf8 .../_launch/agent --receive``, and reads on standard input

    a line of JSON: {"dispatch": 1, "root", "place", "replaces", "limit", "patience_s", "manifest"}
        root: ROOT_DIR; place: the workspace, below it; replaces: one that is there may be replaced
        limit: bytes of earlier dispatches that are kept; patience_s: how long to wait for the next byte
        manifest: its length
    the manifest
    the bytes of the files that it said it needs, one after another, each from where it said

and says on standard output, in lines of JSON

    {"need": [[item, offset], ...]}         item: its number in the manifest, the first with its bytes
    {"done": bytes}                         that were received
    {"beat": 1}                             now and then, while it works
    {"failed": text, "refused": bool}       in place of those; refused: what was asked for is not done

It must never know what a file is for. Guarantee: nothing is written but in ``.paddle`` of ROOT_DIR, and the
workspace is there whole or is as it was, wherever this ends. What arrived before a cut is kept, and another
dispatch is not sent it. On a disk that is full nothing is kept.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import select
import sys
import time

from .answers import NO_ROOM, Answers
from .manifest import MOST_BYTES, Item, Refused, check_path, read
from .part import CHUNK, Part
from .staging import Staging
from .store import OWN, Store, Wanted, copy, finish, own_folder

TYPE_CHECKING = False  # see staging.py
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
_FIRST_PATIENCE_S = 3600.0  # while the launcher reads its package; its end is seen at once
_LONGEST_LINE = 1 << 16
_SHARED = re.compile(r"\.paddle/(runtime|wheels)-[0-9a-f]{16}")  # come as workspaces do; jobs share them


class Cut(Exception):
    """No more comes, though more was to come."""


class Source:
    """What the launcher sends. ``patience_s``: how long to wait for the next byte."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self.patience_s = _FIRST_PATIENCE_S

    def line(self) -> bytes:
        """Read a line."""
        while b"\n" not in self._rest:
            if len(self._rest) > _LONGEST_LINE:
                raise Refused("what was sent does not begin as a dispatch does")
            self._wait()
            self._rest += os.read(self._descriptor, _LONGEST_LINE) or self._end()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def exactly(self, size: int) -> bytes:
        """Read so many bytes, which are few."""
        data = bytearray(size)
        view = memoryview(data)
        while view:
            view = view[self.into(view) :]
        return bytes(data)

    def into(self, view: memoryview) -> int:
        """Read some bytes, as many as fit; gives how many."""
        if self._rest:
            size = min(len(view), len(self._rest))
            view[:size], self._rest = self._rest[:size], self._rest[size:]
            return size
        self._wait()
        return os.readv(self._descriptor, [view]) or self._end()

    def check(self) -> None:
        """Raise ``Cut`` where whoever sends has gone: it would not know what is done from here on."""
        if select.select([self._descriptor], [], [], 0)[0] and not os.read(self._descriptor, 1):
            self._end()

    def _wait(self) -> None:
        if not select.select([self._descriptor], [], [], self.patience_s)[0]:
            raise Cut(f"nothing came for {self.patience_s:.0f} s")

    def _end(self) -> Any:
        raise Cut("the connection ended")


class Receiver:
    """One dispatch. ``answers``: where to answer, a descriptor; ``now``: seconds since 1970."""

    def __init__(self, source: Source, answers: int, now: float) -> None:
        self._source = source
        self._answers = Answers(answers)
        self._now = now
        self._received = 0
        self._bad: list[str] = []

    def run(self) -> int:
        """Receive a workspace; gives the exit status."""
        with self._answers.beating():
            return self._run()

    def _run(self) -> int:
        try:
            self._receive()
        except Refused as error:
            return self._answers.fail(f"{error}.", refused=True)
        except Cut as error:
            return self._answers.fail(f"{error} before all had arrived; what arrived is kept.")
        except OSError as error:
            return self._answers.fail_by(error, "--root_dir=DIR")
        self._answers.offer(done=self._received)  # it is done, whoever listens
        return 0

    def _receive(self) -> None:
        order = _order(self._source.line())
        self._source.patience_s = order["patience_s"]
        items = read(self._source.exactly(order["manifest"]))
        place, home = _grounds(order["root"], order["place"])
        store = Store(home)
        with store.locked():
            staging = Staging(home, place, replaces=order["replaces"])
        try:
            staging.check()
            self._fill(items, staging, store)
            if self._bad:
                names = ", ".join(self._bad[:5])
                raise Refused(
                    f"{names} changed while it was sent. Leave it alone for a moment, and start again"
                )
            staging.switch((item.path for item in items if "/" not in item.path), self._source.check)
        except OSError as error:
            if error.errno in NO_ROOM:
                _tell_inodes(error, home)
                store.forget_brought()
            raise
        finally:
            staging.remove()
            with contextlib.suppress(OSError):  # without notes all is hashed again
                store.note_all(order["limit"], self._now)

    def _fill(self, items: tuple[Item, ...], staging: Staging, store: Store) -> None:
        wanted: dict[Wanted, int] = {}
        for number, item in enumerate(items):
            path = f"{staging.tree}/{item.path}"
            if item.kind == "folder":
                os.mkdir(path)
            elif item.kind == "file" and not item.size:
                _make_empty(path, item)
            elif item.kind == "file":
                old = f"{staging.old}/{item.path}" if staging.old else None
                wanted[Wanted(item.digest, path, item.mode, item.mtime_ns, old)] = number
        waiting: dict[str, list[int]] = {}
        for one in store.link(list(wanted)):
            if one.digest in waiting or not store.put(one):
                waiting.setdefault(one.digest, []).append(wanted[one])
        self._ask(items, waiting, staging, store)
        for item in items:
            if item.kind == "link":
                os.symlink(item.target, f"{staging.tree}/{item.path}")

    def _ask(
        self, items: tuple[Item, ...], waiting: dict[str, list[int]], staging: Staging, store: Store
    ) -> None:
        begun = {
            digest: part
            for digest in waiting
            if (part := store.begun(digest, items[waiting[digest][0]].size))
        }
        try:
            needs = [
                (of[0], begun[digest].offset if digest in begun else 0) for digest, of in waiting.items()
            ]
            _check_room(staging.tree, sum(items[number].size - offset for number, offset in needs))
            self._answers.say(need=needs)
            buffer = memoryview(bytearray(CHUNK))
            for number, _ in needs:
                item = items[number]
                part = begun.pop(item.digest, None) or store.part(item.digest)
                self._read_part(part, item.size, buffer)
                path = f"{staging.tree}/{item.path}"
                if not store.take(item.digest, part, path, item.mode, item.mtime_ns):
                    self._bad.append(item.path)
                    continue
                for other in (items[number] for number in waiting[item.digest][1:]):
                    copy(path, f"{staging.tree}/{other.path}")
                    finish(f"{staging.tree}/{other.path}", other.mode, other.mtime_ns)
        finally:
            for part in begun.values():
                part.close()

    def _read_part(self, part: Part, size: int, buffer: memoryview) -> None:
        """Receive the rest of a file."""
        try:
            while part.offset < size:
                count = self._source.into(buffer[: size - part.offset])
                part.write(buffer[:count])
                self._received += count
        except BaseException as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                part.drop()
            else:
                part.close()
            raise


def _order(line: bytes) -> dict[str, Any]:
    """What is to be done; refuses what is no order."""
    try:
        order = json.loads(line)
    except (ValueError, RecursionError):
        order = None
    match order:
        case {
            "dispatch": int(version),
            "root": str(),
            "place": str(),
            "replaces": bool(),
            "limit": int(),
            "patience_s": int() | float(),
            "manifest": int(length),
        } if version == VERSION and 0 <= length <= MOST_BYTES:
            return dict(order)
        case {"dispatch": int(version)} if version != VERSION:
            raise Refused(
                f"this node receives dispatches of kind {VERSION}, not {version}. Install the same release"
            )
    raise Refused("what was sent does not begin as a dispatch does")


def _grounds(root: str, place: str) -> tuple[str, str]:
    """Make what the workspace is to lie in; gives its place, and the folder of what dispatches keep."""
    root, place = root.rstrip("/") or root[:1], place.rstrip("/")
    path = place.removeprefix(os.path.join(root, ""))
    if not os.path.isabs(root) or path == place or ".." in root.split("/"):
        raise Refused(f"{place} is not a folder below {root}")
    check_path(path)
    parts = path.split("/")
    if parts[0] == OWN and not _SHARED.fullmatch(path):
        raise Refused(f"{place} is not for workspaces")
    os.makedirs(root, exist_ok=True)
    home = own_folder(root)
    above = os.path.dirname(place)
    os.makedirs(above, exist_ok=True)
    if os.path.realpath(above) != os.path.join(os.path.realpath(root), *parts[:-1]):
        raise Refused(f"{above} is a link, or lies in one")
    return place, home


def _make_empty(path: str, item: Item) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    finish(path, item.mode, item.mtime_ns)


def _check_room(tree: str, missing: int) -> None:
    disk = os.statvfs(tree)
    free = disk.f_bavail * disk.f_frsize
    if free < missing:
        raise OSError(errno.ENOSPC, f"{missing:,} bytes are to come, and it has {free:,} left", tree)


def _tell_inodes(error: OSError, home: str) -> None:
    """A disk that is full may have room for bytes: then only ``df -i`` shows that it is."""
    disk = os.statvfs(home)
    if disk.f_files and not disk.f_favail:
        error.strerror = "its disk can take no more files and folders, whatever room it has (df -i)"


def main() -> int:
    """Receive one workspace."""
    return Receiver(Source(sys.stdin.fileno()), sys.stdout.fileno(), time.time()).run()
