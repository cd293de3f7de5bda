"""Warming: what jobs usually compile is compiled before there is a job, once for a runtime and its node.

    python -m paddle._warm

compiles each kernel for what it is usually called with (usual.py), and says what cannot be compiled. Several
processes share that, a file of kernels at a time; the one that was started then takes all that they kept, and
compiles what is missing. Who is started meanwhile, also on another node that sees the same folder, waits and
finds it.

Shards and trainers find the compiled code where numba keeps it. It must never be needed: whoever does not
find something compiles it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from numba import config

from paddle._engine.kernels import flushing
from paddle._engine.kernels.matrices import amx, blocks, pieces, strips, tiles
from paddle._warm.sharing import alone, share
from paddle._warm.usual import USUAL, Line

_MOST_PROCESSES = 4
"""Each takes 200 MB, and more of them would wait for the one that has the longest file."""


def main() -> int:
    """Compile all of it; gives the exit status."""
    if config.DISABLE_JIT:
        return 0
    lines = [line for line in USUAL if _is_used(line[0])]
    with alone(Path(lines[0][0]._cache.cache_path)):
        return 0 if _all_compiled(lines) else 1


def _all_compiled(lines: Sequence[Line]) -> bool:
    processes = min(len(os.sched_getaffinity(0)), _MOST_PROCESSES)
    if processes > 1:
        files = [list(group) for _, group in groupby(lines, lambda line: _file(line[0]))]
        share(len(files), processes, lambda number: compiled(files[number], _nothing))
    return compiled(lines, lambda text: print(text, file=sys.stderr))


def compiled(lines: Iterable[Line], tell: Callable[[str], object]) -> bool:
    """Have the code of each where numba keeps it; False where one cannot be compiled, after all others."""
    is_all = True
    for kernel, signature in lines:
        try:
            kernel.compile(signature)
        except Exception as error:
            tell(f"{_file(kernel)}.{kernel.py_func.__name__}{signature} cannot be compiled: {error}")
            is_all = False
    return is_all


def _is_used(kernel: Any) -> bool:
    """Whether there are jobs in which this processor runs it."""
    where = {
        blocks.__name__: tiles.IS_AHEAD,
        pieces.__name__: amx.is_there(),
        strips.__name__: amx.is_there(),
        flushing.__name__: flushing.IS_THERE,
    }
    return where.get(_file(kernel), True)


def _file(kernel: Any) -> str:
    return str(kernel.py_func.__module__)


def _nothing(text: str) -> None: ...


if __name__ == "__main__":
    sys.exit(main())
