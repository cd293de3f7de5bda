"""A control group: the processes of one place, whatever became of their parents."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

from tests.waiting import until

FRAME = "frame"  # of a lab: what holds its places, and is in none


@cache
def groups() -> Path | None:
    """Where this machine keeps its control groups of the second version; nowhere where it has none that can
    kill."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(place)
    return None


class Group:
    """One, made here. What is started with ``joining`` before its command is in it, and so are all its
    children."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()

    def joining(self) -> list[str]:
        """Whoever comes too late, when it is gone, does not start."""
        return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.path / "cgroup.procs")]

    def add(self, pid: int) -> None:
        """Take one in that is elsewhere now."""
        (self.path / "cgroup.procs").write_text(str(pid))

    def pids(self) -> list[int]:
        with contextlib.suppress(FileNotFoundError):
            return [int(pid) for pid in (self.path / "cgroup.procs").read_text().split()]
        return []

    def kill(self) -> None:
        """End all of them at once, and wait for it."""
        (self.path / "cgroup.kill").write_text("1")
        self._become("populated", 0)

    def freeze(self, frozen: bool) -> None:
        """Stop all of them, or let them go on, and wait for it."""
        (self.path / "cgroup.freeze").write_text(str(int(frozen)))
        self._become("frozen", int(frozen))

    def _become(self, what: str, value: int) -> None:
        events = self.path / "cgroup.events"
        until(lambda: f"{what} {value}" in events.read_text().splitlines(), f"{what} {value} in {events}")
