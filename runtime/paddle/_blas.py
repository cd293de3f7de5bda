"""BLAS: the library behind numpy's products of matrices: its kernel, and how many threads it takes.

One place says so for all: for a process that is to be started, for this one before it loads numpy, and for
this one afterwards. A trainer has as many threads as ``trainer_count`` says, each with a part of the batch,
and BLAS has one in each: its own would spin beside them. The kernel is the library's choice: a pin, such as
machines that test software have, takes another one than that made for the processor, often half as fast.

It must never load numpy. Guarantee: whoever has chosen a number of threads by a variable keeps it.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PINS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

_PREFIXES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")


def changes() -> dict[str, str | None]:
    """What is different in the environment of a process that computes: a text, or None to unset."""
    return {**dict.fromkeys(PINS), **dict.fromkeys(THREADS, "1")}


def settle(environ: MutableMapping[str, str]) -> str | None:
    """The same for this process, where nobody chose: before numpy is loaded in ``environ``, which is read
    then; later by asking the library. Its kernel cannot be changed then: gives what to do about a pinned one.
    """
    has_chosen = any(name in environ for name in THREADS)
    pins = {name: environ.pop(name) for name in PINS if name in environ}
    for name in THREADS:
        environ.setdefault(name, "1")
    if (library := _loaded()) is None:
        return None
    if not has_chosen:
        library.set_threads(1)
    if not pins:
        return None
    given = " ".join(f"{name}={text}" for name, text in pins.items())
    return (
        f"numpy was loaded with {given}, so products of matrices take the kernel {library.kernel()}, and not "
        "the one for this processor, which may be twice as fast: unset it"
    )


@dataclass(frozen=True, slots=True)
class Blas:
    """The library as it is loaded: ``kernel``, as it calls it, and how many ``threads`` it takes."""

    kernel: str
    threads: int

    def __str__(self) -> str:
        return f"OpenBLAS {self.kernel}, {self.threads} thread{'s' if self.threads != 1 else ''}"


def loaded() -> Blas | None:
    """The OpenBLAS that this process has loaded, numpy's if there are several; None where there is none."""
    library = _loaded()
    return None if library is None else Blas(library.kernel(), library.threads())


class _Library:
    """An OpenBLAS and how its functions are called there: builds have prefixes and suffixes of their own."""

    def __init__(self, library: Any, prefix: str) -> None:
        self._library, self._prefix = library, prefix

    def kernel(self) -> str:
        from ctypes import c_char_p

        function = self._function("get_corename")
        function.restype = c_char_p
        return str(function().decode())

    def threads(self) -> int:
        return int(self._function("get_num_threads")())

    def set_threads(self, count: int) -> None:
        self._function("set_num_threads")(count)

    def _function(self, name: str) -> Any:
        return getattr(self._library, self._prefix.format(name))


def _loaded() -> _Library | None:
    for path in _paths():
        from ctypes import CDLL  # numpy has loaded it

        library = CDLL(path)
        for prefix in _PREFIXES:
            if hasattr(library, prefix.format("get_corename")):
                return _Library(library, prefix)
    return None


def _paths() -> list[str]:
    """Of what this process has loaded; other packages may bring an OpenBLAS of their own: numpy's first."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:  # no Linux
        return []
    paths = {line.split(maxsplit=5)[5] for line in lines if "openblas" in line}
    return sorted(paths, key=lambda path: ("numpy" not in path, path))
