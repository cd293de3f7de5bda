"""The limit on one machine for whoever checks what arrives: as ``raw_checked``, over a unix-domain socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.transport.raw import peers
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A connected client, and its server in a process of its own."""
    return peers(settings["floats"], "unix", checked=True)
