"""Messages as protobuf writes them in text: ``name: value`` and ``name { ... }``.

Pure; it must never know which names there are. Guarantee: what ``written`` gives, ``read`` gives back:
numbers, texts, truth values, lists of them (a line for each), and dicts of all that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from paddle._fleet.errors import BadStrategy

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\s*)*([A-Za-z_]\w*|[{}:\[\],;]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[-+.\w]+)"""
)


def written(message: Mapping[str, Any], indent: str = "") -> str:
    """Write a message."""
    return "".join(_lines(message, indent))


def read(text: str) -> dict[str, Any]:
    """Read one. A name that comes more than once is a list."""
    tokens = list(_tokens(text))
    message, rest = _message(tokens, 0)
    if rest != len(tokens):
        raise BadStrategy(f"this is not a protobuf text message: {tokens[rest]!r} closes nothing")
    return message


def _lines(message: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in message.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, Mapping):
                yield f"{indent}{name} {{\n{written(one, indent + '  ')}{indent}}}\n"
            else:
                yield f"{indent}{name}: {_text(one)}\n"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return str(value)


def _tokens(text: str) -> Iterator[str]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            line = text.count("\n", 0, at) + 1
            raise BadStrategy(f"this is not a protobuf text message: line {line}, {text[at : at + 20]!r}")
        at = found.end()
        if found[1] not in (",", ";"):  # between fields, if somebody likes
            yield found[1]


def _message(tokens: list[str], at: int) -> tuple[dict[str, Any], int]:
    message: dict[str, Any] = {}
    while at < len(tokens) and tokens[at] != "}":
        name, at = tokens[at], at + 1
        if not name.isidentifier():
            raise BadStrategy(f"this is not a protobuf text message: {name!r} is not a name")
        if at < len(tokens) and tokens[at] == ":":
            at += 1
        if at >= len(tokens):
            raise BadStrategy(f"this is not a protobuf text message: {name!r} at its end has no value")
        value: Any
        if tokens[at] == "{":
            value, at = _message(tokens, at + 1)
        else:
            value = _value(tokens[at])
        at += 1
        if name in message:
            before = message[name]
            value = [*before, value] if isinstance(before, list) else [before, value]
        message[name] = value
    return message, at


def _value(token: str) -> Any:
    if token[0] in "\"'":
        return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), token[1:-1])
    if token in ("true", "false"):
        return token == "true"
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            continue
    return token  # the name of a value of an enumeration
