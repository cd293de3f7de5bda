"""Messages as Google's protocol buffers (proto2) write them: a table of numbered fields, bytes and back.

It must never know what a message is about: subclasses are tables. Guarantee: fields are written in the order
of their numbers, set ones only, so equal messages give equal bytes; reading skips fields that the table does
not have, takes repeated numbers one by one or packed, and bytes that are no message, that lack a required
field or say a number that its enumeration does not have raise :class:`DecodeError`. What is read is as deep
as the tables are and no larger than its bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Self

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("uint64", "int64", "int32"), 0),
    **dict.fromkeys(("double", "float"), 0.0),
    **{"string": "", "bool": False},
}
_WIRE_TYPES = dict.fromkeys(_DEFAULTS, _VARINT) | {"string": _BYTES, "double": _FIXED64, "float": _FIXED32}
_FLOATS = {"double": struct.Struct("<d"), "float": struct.Struct("<f")}


class DecodeError(ValueError):
    """Bytes that are not a message."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its number, and its kind: one of those above or a message class. ``names``: of the numbers
    that an enumeration has; nothing else is read then."""

    number: int
    kind: str | type[Message]
    default: Any = None
    repeated: bool = False
    required: bool = False
    names: Mapping[int, str] | None = None

    @property
    def wire_type(self) -> int:
        """How its values stand on the wire."""
        return _WIRE_TYPES[self.kind] if isinstance(self.kind, str) else _BYTES

    @property
    def unset(self) -> Any:
        """What reading it gives where it is not set."""
        if self.repeated:
            return []
        if not isinstance(self.kind, str):
            return self.kind()
        return _DEFAULTS[self.kind] if self.default is None else self.default

    def converted(self, value: Any) -> Any:
        """``value`` as this kind holds it."""
        if not isinstance(self.kind, str):
            return value
        return type(_DEFAULTS[self.kind])(value)


class Message:
    """A message. A field that is not set reads as its default; assigning sets it, appending too."""

    FIELDS: ClassVar[dict[str, Field]] = {}

    def __init__(self, **values: Any) -> None:
        object.__setattr__(self, "_values", {})
        for name, value in values.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        field = self._field(name)
        if field.repeated:
            return self._values.setdefault(name, [])
        return self._values.get(name, field.unset)

    def __setattr__(self, name: str, value: Any) -> None:
        field = self._field(name)
        self._values[name] = [field.converted(v) for v in value] if field.repeated else field.converted(value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # type: ignore[assignment]

    def _field(self, name: str) -> Field:
        try:
            return self.FIELDS[name]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} has no field {name!r}; it has {', '.join(self.FIELDS)}"
            ) from None

    def HasField(self, name: str) -> bool:  # noqa: N802  protobuf's own name
        """Whether the field has been set, or appended to."""
        return bool(self._values.get(name)) if self._field(name).repeated else name in self._values

    def SerializeToString(self) -> bytes:  # noqa: N802  protobuf's own name
        """Return the message as bytes."""
        out = bytearray()
        for name, field in sorted(self.FIELDS.items(), key=lambda item: item[1].number):
            if self.HasField(name):
                for value in self._values[name] if field.repeated else [self._values[name]]:
                    out += _varint(field.number << 3 | field.wire_type)
                    out += _encoded(field, value)
        return bytes(out)

    def ParseFromString(self, data: bytes) -> None:  # noqa: N802  protobuf's own name
        """Become the message that bytes hold."""
        object.__setattr__(self, "_values", self.FromString(data)._values)

    @classmethod
    def FromString(cls, data: bytes) -> Self:  # noqa: N802  protobuf's own name
        """Read a message from bytes."""
        message, by_number = cls(), {field.number: (name, field) for name, field in cls.FIELDS.items()}
        for number, wire_type, raw in _records(data):
            name, field = by_number.get(number, ("", None))
            if field is None:
                continue
            if wire_type == _BYTES != field.wire_type and field.repeated:
                getattr(message, name).extend(_unpacked(field, raw))
                continue
            if wire_type != field.wire_type:
                raise DecodeError(f"{cls.__name__}.{name} has wire type {wire_type}, not {field.wire_type}")
            value = _decoded(field, raw)
            if field.repeated:
                getattr(message, name).append(field.converted(value))
            else:
                setattr(message, name, value)
        for name, field in cls.FIELDS.items():
            if field.required and name not in message._values:
                raise DecodeError(f"{cls.__name__} lacks its {name}")
        return message

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        for name, field in sorted(self.FIELDS.items(), key=lambda item: item[1].number):
            if not self.HasField(name):
                continue
            for value in self._values[name] if field.repeated else [self._values[name]]:
                if isinstance(value, Message):
                    yield from (f"{indent}{name} {{", *value._lines(indent + "  "), f"{indent}}}")
                else:
                    yield f"{indent}{name}: {_said(field, value)}"


def _said(field: Field, value: Any) -> str:
    """A value as protobuf's text form says it."""
    if field.names is not None:
        return field.names.get(value, str(value))
    if field.kind == "float":
        return _shortest(value)
    return _TEXT.get(type(value), str)(value)


def _shortest(value: float) -> str:
    """The fewest digits that are the same number in four bytes."""
    packed = _FLOATS["float"].pack(value)
    for digits in range(6, 9):
        with suppress(OverflowError):  # rounded up beyond the largest
            if _FLOATS["float"].pack(float(text := f"{value:.{digits}g}")) == packed:
                return str(float(text))
    return str(float(f"{value:.9g}"))


_ESCAPES = {"\\": "\\\\", '"': '\\"', "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _quoted(text: str) -> str:
    """A text in quotes; whatever is not printable ASCII as its bytes in octal."""
    parts = [
        _ESCAPES.get(one) or (one if " " <= one <= "~" else "".join(f"\\{b:03o}" for b in one.encode()))
        for one in text
    ]
    return '"' + "".join(parts) + '"'


_TEXT: dict[type, Callable[[Any], str]] = {str: _quoted, bool: lambda value: str(value).lower()}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers stand in two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _encoded(field: Field, value: Any) -> bytes:
    if field.wire_type == _VARINT:
        return _varint(int(value))
    if isinstance(field.kind, str) and field.kind in _FLOATS:
        return _FLOATS[field.kind].pack(value)
    content = value.encode() if isinstance(value, str) else value.SerializeToString()
    return _varint(len(content)) + content


def _decoded(field: Field, raw: Any) -> Any:
    if not isinstance(field.kind, str):
        return field.kind.FromString(raw)
    if field.kind == "string":
        return _text(raw)
    if field.kind in _FLOATS:
        return _FLOATS[field.kind].unpack(raw)[0]
    value = _signed(field.kind, raw)
    if field.names is not None and value not in field.names:
        raise DecodeError(f"no message: {value} is none of the enumeration {', '.join(field.names.values())}")
    return value


def _signed(kind: str, raw: int) -> int:
    bits = {"int32": 32, "int64": 64}.get(kind)
    if bits is None:
        return raw
    raw &= (1 << bits) - 1
    return raw - (1 << bits) if raw >> (bits - 1) else raw


def _unpacked(field: Field, raw: bytes) -> Iterator[Any]:
    """Repeated numbers that stand one after another in one record."""
    at = 0
    size = {_FIXED64: 8, _FIXED32: 4}.get(field.wire_type, 0)
    if size and len(raw) % size:
        raise DecodeError(f"no message: {len(raw)} bytes are not a list of numbers of {size} bytes")
    while at < len(raw):
        if size:
            yield _decoded(field, raw[at : at + size])
            at += size
        else:
            value, at = _read_varint(raw, at)
            yield field.converted(_decoded(field, value))


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(f"no message: its text is not UTF-8 ({error})") from None


def _records(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Field number, wire type and content (an int or bytes) of each record, one after the other."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == _VARINT:
            content, at = _read_varint(data, at)
            yield number, wire_type, content
            continue
        if wire_type == _BYTES:
            size, at = _read_varint(data, at)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise DecodeError(f"no message: wire type {wire_type} at byte {at}")
        if at + size > len(data):
            raise DecodeError(f"no message: it ends inside field {number}")
        yield number, wire_type, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise DecodeError(f"no message: a number ends nowhere at byte {at}")
