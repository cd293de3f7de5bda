"""A node's Python, by what it says of itself (agent/premises.py), and which wheels fit it.

It must never know how a node is asked, nor where wheels come from. Guarantee: every wheel that fits by the
tags given here can be loaded by that Python; the tags are those of PEP 425, 600 and 656, the best first.
"""

from __future__ import annotations

import re

import msgspec

from paddle._launch.errors import NodeUnfit

OLDEST = (3, 11)
_LEAST_GLIBC = {"x86_64": 5, "i686": 5}  # 2.5: of the first manylinux; other machines came later
_LEAST_OF_OTHERS = 17
_OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_NARROW = {"x86_64": "i686", "aarch64": "armv7l", "armv8l": "armv7l"}  # a Python of 32 bits on such a kernel


class Premises(msgspec.Struct, frozen=True):
    """What a node says; see agent/premises.py."""

    python: str
    implementation: str
    abi: str
    machine: str
    bits: int
    libc: tuple[str, str]
    marks: dict[str, str]
    current: str | None
    venvs: tuple[str, ...]
    wheels: tuple[str, ...]
    runtimes: tuple[str, ...]
    ground: str
    is_writable: bool
    free: int | None
    free_files: int | None

    @property
    def interpreter(self) -> Interpreter:
        """Its Python; refuses one for which there can be no wheels."""
        python = Interpreter(self.marks["python_version"], self.abi, _machine(self), self.libc)
        if self.implementation != "cpython":
            raise NodeUnfit(
                f"its Python {self.python} is {self.implementation}, and the runtime needs CPython. "
                "Name one: fab install --python=/path/to/python3."
            )
        if not self.libc[0]:
            raise NodeUnfit(
                f"its Python {self.python} does not say which library of C it is linked to, and there are "
                "wheels for glibc and musl only. Name another one: fab install --python=/path/to/python3."
            )
        return python


class Interpreter(msgspec.Struct, frozen=True):
    """A kind of Python: nodes that have the same one need the same wheels. ``version``: such as 3.11."""

    version: str
    abi: str
    machine: str
    libc: tuple[str, str]

    def __str__(self) -> str:
        threads = ", free-threaded" if self.abi.endswith("t") else ""
        return f"CPython {self.version}{threads} on {self.machine} with {' '.join(self.libc)}"

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms whose wheels it takes."""
        name, version = self.libc
        major, minor = (int(number) for number in re.findall(r"\d+", version)[:2])
        known = _musl(major, minor) if name == "musl" else _glibc(major, minor, self.machine)
        return (*(f"{one}_{self.machine}" for one in known), f"linux_{self.machine}")


def read(line: bytes) -> Premises:
    """Read what a node said; its last line, for a login shell may have greeted first."""
    line = line.rstrip(b"\n").rpartition(b"\n")[2]
    try:
        return msgspec.json.decode(line, type=Premises)
    except msgspec.MsgspecError as error:
        raise NodeUnfit(f"it says of itself what is not understood ({error}): {line[:200]!r}") from error


def _machine(premises: Premises) -> str:
    return _NARROW.get(premises.machine, premises.machine) if premises.bits == 32 else premises.machine


def _glibc(major: int, minor: int, machine: str) -> list[str]:
    if major != 2:
        return []
    names = []
    for each in range(minor, _LEAST_GLIBC.get(machine, _LEAST_OF_OTHERS) - 1, -1):
        names.append(f"manylinux_2_{each}")
        names += [_OLD_NAMES[each]] if each in _OLD_NAMES else []
    return names


def _musl(major: int, minor: int) -> list[str]:
    return [f"musllinux_{major}_{each}" for each in range(minor, -1, -1)]
