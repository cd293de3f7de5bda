"""Waiting for servers. Guarantee: who waits is told, in the end, for which."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

from paddle._program.errors import NotInitialized

__all__ = ["wait_server_ready"]

_LOOK_S, _PAUSE_S = 1.0, 0.05


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
