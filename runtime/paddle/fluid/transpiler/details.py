"""What scripts of jobs take from the transpiler: a program as text, and servers that have come.

It must never know what a server does. Guarantee: who waits for servers is told, in the end, for which.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from paddle._absent import AbsentName
from paddle._program.errors import NotInitialized

__all__ = ["program_to_code", "wait_server_ready"]

_LATER = frozenset(
    {"UnionFind", "VarBlock", "VarStruct", "VarsDistributed", "delete_ops", "find_op_by_input_arg"}
)
_LOOK_S, _PAUSE_S = 1.0, 0.05


def program_to_code(prog: Any, fout: Any = None, skip_op_callstack: bool = True) -> None:
    """Print a program, or write it into an open file."""
    print(str(prog), file=fout, flush=True)


def wait_server_ready(endpoints: Sequence[str], *, patience_s: float = 600.0) -> None:
    """Wait until somebody listens at each of ``host:port``."""
    end, left = time.monotonic() + patience_s, list(endpoints)
    while left := [each for each in left if not _listens(each)]:
        if time.monotonic() >= end:
            raise NotInitialized(
                f"wait_server_ready: nobody listens at {', '.join(left)} after {patience_s:g} s. Start the "
                "parameter servers there, or look at their logs"
            )
        time.sleep(_PAUSE_S)


def _listens(endpoint: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_LOOK_S).close()
    except OSError:
        return False
    return True


def __getattr__(name: str) -> NoReturn:
    if name in _LATER:
        raise AbsentName(
            f"{__name__}.{name} is not in this release: it is a part of how upstream transpiles."
        )
    raise AttributeError(f"{__name__}.{name} does not exist", name=name)
