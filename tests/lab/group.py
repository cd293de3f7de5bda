"""A control group: the processes of one place, whatever became of their parents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
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


def hierarchies() -> list[Path]:
    """Where this machine keeps control groups of any version."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return [Path(place) for _, place, kind, *_ in mounts if kind in ("cgroup", "cgroup2")]


def joining(groups: Iterable[Path]) -> list[str]:
    """What to write before a command so that it is in those groups. Whoever comes when they are gone does not
    start."""
    join = 'while [ "$1" != -- ]; do echo $$ >"$1" || exit; shift; done; shift; exec "$@"'
    return ["/bin/sh", "-c", join, "sh", *(str(group / "cgroup.procs") for group in groups), "--"]


def groups_of(pid: int) -> list[Path]:
    """All that a process is in."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    names = {line.split(":", 2)[2].lstrip("/") for line in lines} - {""}
    return [top / name for top in hierarchies() for name in names if (top / name).is_dir()]


class Group:
    """One, made here. What is started with ``joining`` before its command is in it, and so are all its
    children."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()

    def joining(self) -> list[str]:
        return joining([self.path])

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
