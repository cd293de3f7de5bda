"""DataFeedDesc: what lines of files hold, as AsyncExecutor is told it by a message in text
(``data_feed.proto``).

It must never read data. Guarantee: what is printed is what 1.8.5 prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddle._program.errors import BadFile

__all__ = ["DataFeedDesc"]

_TOKEN = re.compile(r'\s*(?:#[^\n]*\n)?\s*("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[{}:]|[^\s{}:#]+)?')
_OF_FEED = ("name", "batch_size", "multi_slot_desc", "pipe_command", "thread_num", "rank_offset")
_OF_FEED_ALL = (*_OF_FEED, "pv_batch_size", "input_type", "so_parser_name")
_OF_SLOT = ("name", "type", "is_dense", "is_used", "shape")
_MULTI = "MultiSlotDataFeed"
Fields = list[tuple[str, Any]]


@dataclass
class DataSlot:
    """What a line holds for one variable. ``type``: ``"uint64"`` or ``"float"``; ``is_used``: whether a
    program reads it; None is not told, and no."""

    name: str = ""
    type: str = ""
    is_dense: bool | None = None
    is_used: bool | None = None
    shape: tuple[int, ...] = ()


class DataFeedDesc:
    """Reads ``proto_file``. ``slots`` are those of a line, in its order."""

    def __init__(self, proto_file: str) -> None:
        fields = _message(_tokens(Path(proto_file).read_text(), proto_file), proto_file)
        self._fields: dict[str, Any] = {"pipe_command": "cat"} | {
            key: value for key, value in fields if key != "multi_slot_desc"
        }
        if unknown := set(self._fields) - set(_OF_FEED_ALL):
            raise BadFile(f"{proto_file}: a DataFeedDesc has no {', '.join(sorted(unknown))}")
        several = [inner for key, value in fields if key == "multi_slot_desc" for inner in value]
        self.slots = [_slot(value, proto_file) for key, value in several if key == "slots"]

    @property
    def batch_size(self) -> int:
        """Samples in a batch."""
        return int(self._fields.get("batch_size", 32))

    @property
    def pipe_command(self) -> str:
        """What each file's lines go through, by a shell."""
        return str(self._fields["pipe_command"])

    def set_batch_size(self, batch_size: int) -> None:
        """Samples in a batch."""
        self._fields["batch_size"] = int(batch_size)

    def set_dense_slots(self, dense_slots_name: Sequence[str]) -> None:
        """These have as many values in each line; others are sequences."""
        for slot in self._named("set_dense_slots", dense_slots_name):
            slot.is_dense = True

    def set_use_slots(self, use_slots_name: Sequence[str]) -> None:
        """The program reads these; none is read unless it is told."""
        for slot in self._named("set_use_slots", use_slots_name):
            slot.is_used = True

    def desc(self) -> str:
        """As text."""
        lines = []
        for name in _OF_FEED_ALL:
            if name == "multi_slot_desc" and self.slots:
                lines += ["multi_slot_desc {", *(line for slot in self.slots for line in _shown(slot)), "}"]
            elif name in self._fields:
                lines.append(f"{name}: {_text(self._fields[name])}")
        return "".join(f"{line}\n" for line in lines)

    def _named(self, method: str, names: Sequence[str]) -> list[DataSlot]:
        if self._fields.get("name") != _MULTI:
            raise ValueError(f"{method} is for a {_MULTI}, and this one is {self._fields.get('name')!r}")
        known = {slot.name: slot for slot in self.slots}
        if unknown := [name for name in names if name not in known]:
            raise KeyError(f"{method}: there is no slot {unknown[0]!r}; there are {', '.join(known)}")
        return [known[name] for name in names]


def _shown(slot: DataSlot) -> Iterator[str]:
    yield "  slots {"
    for name in _OF_SLOT[:4]:
        if (value := getattr(slot, name)) is not None:
            yield f"    {name}: {_text(value)}"
    yield from (f"    shape: {size}" for size in slot.shape)
    yield "  }"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _slot(fields: Fields, path: str) -> DataSlot:
    told = dict(fields)
    if unknown := set(told) - set(_OF_SLOT):
        raise BadFile(f"{path}: a slot has no {', '.join(sorted(unknown))}")
    sizes = tuple(value for name, value in fields if name == "shape")
    return DataSlot(**(told | {"shape": sizes}))


def _tokens(text: str, path: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.end() == at:
            raise BadFile(f"{path}: no message in text at {text[at : at + 20]!r}")
        at = found.end()
        if found[1]:
            yield found[1]


def _message(tokens: Iterator[str], path: str) -> Fields:
    """The fields of a message, to its end."""
    found: Fields = []
    for name in tokens:
        if name == "}":
            break
        if not name.isidentifier():
            raise BadFile(f"{path}: {name!r} is not the name of a field")
        sign = next(tokens, "")
        value = next(tokens, "") if sign == ":" else sign
        found.append((name, _message(tokens, path) if value == "{" else _value(value, path)))
    return found


def _value(token: str, path: str) -> Any:
    if token[:1] in "\"'" and token:
        return token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if token in ("true", "false"):
        return token == "true"
    try:
        return int(token)
    except ValueError:
        raise BadFile(f"{path}: {token!r} is not a number, a text or a truth value") from None
