"""Paths: where a shard is found behind a port, and how a trainer asks for a session with it.

It must never know a connection.
"""

from __future__ import annotations

from paddle._pserver.options import Role

UPGRADE = "paddle-pserver/1"
SESSION_PATH = "/v1/session"
MOST_GROUPS = 4
"""How many groups of parameters, each with a rule of its own, a port can serve that serves both kinds."""


def prefix(role: Role, group: int = 0) -> str:
    """What stands before all paths of a shard, where one port serves one of either role for each group."""
    own = f"/{group}" if group else ""
    return f"{own}/sparse" if role == "sparse" else own
