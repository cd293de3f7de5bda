"""A node's Python, by what it says of itself (agent/premises.py), and which wheels fit it.

It must never know how a node is asked, nor where wheels come from. Guarantee: what a node says decides which
wheels are fetched, by a few words of few letters, and nothing else here; every wheel that fits by the
tags given here can be loaded by that Python; the tags are those of PEP 425, 600 and 656, the best first.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from paddle._launch.errors import NodeUnfit
from paddle._launch.machines import said

OLDEST = (3, 11)
_LEAST_GLIBC = {"x86_64": 5, "i686": 5}  # 2.5: of the first manylinux; other machines came later
_LEAST_OF_OTHERS = 17
_OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_NARROW = {"x86_64": "i686", "aarch64": "armv7l", "armv8l": "armv7l"}  # a Python of 32 bits on such a kernel


_ABI = r"^cp3(\d{1,3})t?\Z"
_RELEASE = r"^3(\.\d{1,3}){2}((a|b|rc)\d{1,3})?\+?\Z"
Abi = Annotated[str, msgspec.Meta(pattern=_ABI)]
Release = Annotated[str, msgspec.Meta(pattern=_RELEASE)]
LibcVersion = Annotated[str, msgspec.Meta(pattern=r"^(\d{1,2}\.\d{1,3})?\Z")]
Libc = tuple[Literal["glibc", "musl", ""], LibcVersion]


class Premises(msgspec.Struct, frozen=True):
    """What a node says; see agent/premises.py."""

    python: said.Path
    implementation: said.Word
    version: Release
    abi: Abi
    machine: said.Word
    bits: Literal[32, 64]
    libc: Libc
    current: said.Text | None
    venvs: tuple[said.Text, ...]
    wheels: tuple[said.Text, ...]
    runtimes: tuple[said.Text, ...]
    ground: said.Text
    is_writable: bool
    free: said.Count | None
    free_files: said.Count | None

    @property
    def interpreter(self) -> Interpreter:
        """Its Python; refuses one for which there can be no wheels."""
        if self.implementation != "cpython":
            raise NodeUnfit(
                f"its Python {self.python} is {self.implementation}, and the runtime needs CPython. "
                "Name one: fab install --python=/path/to/python3."
            )
        if not all(self.libc):
            raise NodeUnfit(
                f"its Python {self.python} does not say which library of C it is linked to, and there are "
                "wheels for glibc and musl only. Name another one: fab install --python=/path/to/python3."
            )
        return Interpreter(self.abi, _machine(self), self.libc, self.version)


class Interpreter(msgspec.Struct, frozen=True):
    """A kind of Python: nodes that have the same one need the same wheels. ``release``: such as 3.11.2."""

    abi: str
    machine: str
    libc: tuple[str, str]
    release: str

    def __str__(self) -> str:
        threads = ", free-threaded" if self.abi.endswith("t") else ""
        return f"CPython {self.version}{threads} on {self.machine} with {' '.join(self.libc)}"

    @property
    def version(self) -> str:
        """Such as 3.11: as wheels are named."""
        return f"3.{self.abi.removeprefix('cp3').rstrip('t')}"

    @property
    def marks(self) -> dict[str, str]:
        """What conditions of packages may ask for (PEP 508), but names of kernels: those are of one node."""
        return {
            "implementation_name": "cpython",
            "implementation_version": self.release,
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": self.release,
            "python_version": self.version,
            "sys_platform": "linux",
        }

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms whose wheels it takes."""
        name, version = self.libc
        major, minor = (int(number) for number in version.split("."))
        known = _musl(major, minor) if name == "musl" else _glibc(major, minor, self.machine)
        return (*(f"{one}_{self.machine}" for one in known), f"linux_{self.machine}")


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
