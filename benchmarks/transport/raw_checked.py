"""The limit for whoever checks what arrives: the bare socket, and an xxh3 of every byte on either side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.transport.raw import peers
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A connected client, and its server in a process of its own."""
    return peers(settings["floats"], "tcp", checked=True)
