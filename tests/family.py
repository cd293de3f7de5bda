"""Who begat whom: numbers of processes do not say it, as they begin again at the system's greatest one."""

from __future__ import annotations

from collections.abc import Collection

from paddle._launch.agent.processes import descendants


def eldest(pids: Collection[int]) -> list[int]:
    """Those of them that descend from none of the others."""
    below = {process.pid for pid in pids for process in descendants(pid)}
    return [pid for pid in pids if pid not in below]
