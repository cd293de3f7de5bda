"""A manifest: what a workspace consists of, as it travels to a node. One JSON array a line:

    ["folder", path]
    ["file", path, mode, mtime_ns, size, digest]         digest: SHA-256 of its bytes, in hexadecimal
    ["link", path, target]

It must never know a disk. Guarantee: what ``read`` gives can be made below one folder and nowhere else. It
refuses the rest, by these rules:

1. A path is relative, its parts are names, and no two items have the same one.
2. The folder that an item lies in is an item before it, so it is neither a link nor anybody else's.
3. A link leads to names below, after as many ``..`` as there are folders above it at most. So wherever links
   lead that lead to links, all of them stay within.
4. Numbers are within bounds, and a mode has permissions only. The same bytes have one size.
5. There are at most ``MOST_ITEMS``.
"""

from __future__ import annotations

import json
import os
import re
from collections import namedtuple
from collections.abc import Iterable, Iterator

MOST_ITEMS = 1_000_000
MOST_BYTES = 1 << 28
LONGEST_NAME = 255
LONGEST_PATH = 4000
_MOST = 1 << 62  # of bytes, and of nanoseconds
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PLAIN = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/)*[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_value_at_the_start = json.JSONDecoder().raw_decode


class Refused(ValueError):
    """What was asked for is not done; the message says why."""


# One thing of a workspace; what does not go with its kind is empty. A loop over a hundred thousand of them is
# why it is a tuple, and what a node loads for every dispatch, why ``typing`` does not make it.
Item = namedtuple(
    "Item", ("kind", "path", "mode", "mtime_ns", "size", "digest", "target"), defaults=(0, 0, 0, "", "")
)


def written(items: Iterable[Item]) -> bytes:
    """Give the text that ``read`` reads back."""
    return "".join(json.dumps(_row(item)) + "\n" for item in items).encode()


def read(data: bytes) -> tuple[Item, ...]:
    """Read a manifest; raises ``Refused``."""
    if len(data) > MOST_BYTES or data.count(b"\n") > MOST_ITEMS:
        raise Refused(f"a manifest has at most {MOST_ITEMS:,} items in {MOST_BYTES:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Refused("what was sent as a manifest is not a text") from error
    return tuple(_checked(map(_item, text.removesuffix("\n").split("\n") if text else [])))


def check_path(path: str) -> None:
    """Refuse a path by the first rule."""
    if len(path) <= LONGEST_PATH and _PLAIN.fullmatch(path):
        return  # as most are, which need no closer look
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise Refused(f"{path!r} is not a path below the workspace")
    if "\0" in path or "\n" in path:
        raise Refused(f"{path!r} has a character in it that no line can hold")
    try:
        long = [part for part in parts if len(os.fsencode(part)) > LONGEST_NAME]
    except UnicodeEncodeError as error:
        raise Refused(f"{path!r} is not a name of a file") from error
    if long or len(path) > LONGEST_PATH:
        raise Refused(f"the path {path[:80]!r}... is too long")


def _row(item: Item) -> list[object]:
    if item.kind == "file":
        return [item.kind, item.path, item.mode, item.mtime_ns, item.size, item.digest]
    return [item.kind, item.path, *filter(None, [item.target])]


def _item(line: str) -> Item:
    try:
        row, end = _value_at_the_start(line)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{line[:80]!r} is not a line of a manifest") from error
    match row:
        case _ if end != len(line):
            raise Refused(f"{line[:80]!r} is not a line of a manifest")
        case ["file", str(path), int(mode), int(mtime_ns), int(size), str(digest)]:
            item = Item("file", path, int(mode), int(mtime_ns), int(size), digest)
        case ["folder", str(path)]:
            item = Item("folder", path)
        case ["link", str(path), str(target)]:
            item = Item("link", path, target=target)
        case _:
            raise Refused(f"{line[:80]!r} is not a line of a manifest")
    check_path(item.path)
    if item.kind == "file":
        _check_numbers(item)
    if item.kind == "link":
        _check_target(item)
    return item


def _check_numbers(item: Item) -> None:
    if not (0 <= item.mode <= 0o777 and 0 <= item.size < _MOST and -_MOST < item.mtime_ns < _MOST):
        raise Refused(f"{item.path!r} has a mode, a size or a time that no file has")
    if not _DIGEST.fullmatch(item.digest):
        raise Refused(f"{item.path!r} has no digest")


def _check_target(link: Item) -> None:
    names = link.target.split("/")
    while names and names[0] == "..":
        del names[0]
    ups = link.target.count("/") + 1 - len(names)
    if ups > link.path.count("/"):
        raise Refused(f"{link.path!r} is a link that leads out of the workspace, to {link.target[:200]!r}")
    if names not in ([], ["."]):
        check_path("/".join(names))


def _checked(items: Iterable[Item]) -> Iterator[Item]:
    """Hold items against those before them."""
    folders, taken, sizes = {""}, set[str](), dict[str, int]()
    for item in items:
        if item.path in taken:
            raise Refused(f"{item.path!r} comes twice")
        if item.path.rpartition("/")[0] not in folders:
            raise Refused(f"{item.path!r} lies in no folder that came before it")
        if item.kind == "file" and sizes.setdefault(item.digest, item.size) != item.size:
            raise Refused(f"{item.path!r} has the bytes of another file and not its size")
        taken.add(item.path)
        if item.kind == "folder":
            folders.add(item.path)
        yield item
