"""A flag: one row of the table in flags.py, and how a text becomes its value.

It must never know which flags there are, nor a process, a file or an environment.

Guarantee: ``flag.parse(flag.render(value)) == value``, and a text that is not of the flag's type is refused
by a message that names the flag, the text and what was expected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from paddle._launch.errors import FlagError

Value = bool | int | float | str | tuple[str, ...]
Kind = Literal["bool", "int", "float", "str", "names", "duration"]  # names: words, written with commas
User = Literal[
    "launcher", "pserver", "trainer", "master", "reshard", "export", "snapshot", "fleetrun", "rank", "pod"
]

# What a value does in this release.
#   acts     the project itself acts upon it
#   program  it is handed to the training program, which decides (its arguments, PADDLE_INIT_*, paddle.init)
#   hint     it tuned the original implementation; here it changes nothing, and a changed value is told so
#   absent   its behaviour is not in this release; anything but the default is an error
#   forgone  its behaviour is not in this release; who asks for it is told so, and it goes on without
Effect = Literal["acts", "program", "hint", "absent", "forgone"]

_TRUE = frozenset({"1", "t", "true", "y", "yes"})
_FALSE = frozenset({"0", "f", "false", "n", "no"})
_EXPECTED = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "names": "a list separated by commas",
    "duration": "a time such as 20m, 1h30m or 90s",
}
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(h|ms|m|s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag. ``env``: variables that carry it; ``conf``: its name in conf.py; ``short``: its letter;
    ``also``: another spelling on the command line; ``choices``: the only texts that it takes besides its
    default, where there are any."""

    name: str
    kind: Kind
    default: Value
    help: str
    users: frozenset[User]
    effect: Effect = "acts"
    env: tuple[str, ...] = ()
    conf: str | None = None
    short: str | None = None
    also: str | None = None
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def parse(self, value: object, where: str = "") -> Value:
        """Turn text, or what a program or conf.py gives, into a value; errors name its origin ``where``."""
        if self.kind == "names" and isinstance(value, list | tuple):
            return tuple(str(word) for word in value)
        text = str(value).strip()
        parsed = None if value is None else self._read(text)
        if parsed is None or not self._in_range(parsed):
            raise FlagError(f"{where or '--' + self.name}: {text!r} is not {self.expected}.")
        return parsed

    def render(self, value: Value) -> str:
        """Give the text that ``parse`` reads back."""
        if isinstance(value, tuple):
            return ",".join(value)
        text = str(value).removesuffix(".0") if isinstance(value, float) else str(value)
        return f"{text}s" if self.kind == "duration" else text

    @property
    def expected(self) -> str:
        """Say what the flag takes, such as ``a whole number from 1 to 65535``."""
        if self.choices:
            return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        limits = [f"from {self.low}"] if self.low is not None else []
        limits += [f"to {self.high}"] if self.high is not None else []
        return " ".join([_EXPECTED[self.kind], *limits])

    def _read(self, text: str) -> Value | None:
        match self.kind:
            case "bool":
                return _bool(text)
            case "int" | "float":
                return _number(text, int if self.kind == "int" else float)
            case "duration":
                return _duration(text)
            case "names":
                return tuple(word.strip() for word in text.split(",") if word.strip())
            case _:
                return text

    def _in_range(self, value: Value) -> bool:
        if isinstance(value, str | tuple):
            return not self.choices or value in (*self.choices, self.default)
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


def _bool(text: str) -> bool | None:
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _number(text: str, of: type[int] | type[float]) -> int | float | None:
    try:
        number = of(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _duration(text: str) -> float | None:
    """Seconds of a time as Go writes it; a bare number is seconds."""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        number = _number(text, float)
        return None if number is None else float(number)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _users(letters: str) -> frozenset[User]:
    names: dict[str, User] = {
        "l": "launcher", "p": "pserver", "t": "trainer", "m": "master", "r": "reshard",
        "e": "export", "s": "snapshot", "f": "fleetrun", "k": "rank", "o": "pod",
    }  # fmt: skip
    return frozenset(names[letter] for letter in letters)


def row(
    users: str,
    effect: Effect,
    name: str,
    kind: Kind,
    default: Value,
    help: str,
    *,
    env: str = "",
    conf: str | None = None,
    short: str | None = None,
    also: str | None = None,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[str, ...] = (),
) -> Flag:
    """Write one row of a table. ``users``: a letter for each; a trainer's are of ``PADDLE_INIT_*``, too."""
    own = (f"PADDLE_INIT_{name.upper()}",) if "t" in users else ()
    return Flag(
        name=name, kind=kind, default=default, help=help, users=_users(users), effect=effect,
        env=own + tuple(env.split()), conf=conf, short=short, also=also, low=low, high=high, choices=choices,
    )  # fmt: skip
