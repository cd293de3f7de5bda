"""Ends a lab when the tests let go of it, or are gone: run as a program, with the lab's control group and
folder.

It is in no group of the lab and in a session of its own, and does nothing until its input ends or its parent
does, however. Then it kills all the lab's processes, and with them go namespaces, mounts and interfaces;
groups and folder it removes. Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shutil
import sys
import time
from pathlib import Path

PATIENCE_S = 240.0  # as tests/waiting.py has it


def main(group: Path, folder: Path) -> None:
    """Wait, and clean up."""
    parent = os.pidfd_open(os.getppid())
    print("here", flush=True)
    select.select([parent, 0], [], [])  # nobody writes: input can only end
    end = time.monotonic() + PATIENCE_S
    _end(group, end)
    # Some of the first version are busy for a moment after the last end in them.
    while left := _everywhere(group.name):
        for path in left:
            with contextlib.suppress(OSError):
                path.rmdir()
        if time.monotonic() > end:
            sys.exit(f"control groups cannot be removed: {left}")
    shutil.rmtree(folder)


def _end(group: Path, end: float) -> None:
    for path in _everywhere(group.name):
        if (state := path / "freezer.state").exists():  # of the first version: what is frozen does not die
            state.write_text("THAWED")
    places = [path for path in group.iterdir() if path.is_dir() and path.name != "frame"]
    for path in (*places, group):  # the frame last, which takes notice of the ends of others
        _kill(path, end)


def _kill(group: Path, end: float) -> None:
    try:
        (group / "cgroup.kill").write_text("1")
        while "populated 1" in (group / "cgroup.events").read_text():
            if time.monotonic() > end:
                sys.exit(f"processes of {group} do not end: {(group / 'cgroup.procs').read_text().split()}")
            select.select([], [], [], 0.002)
    except OSError as error:  # an engine of containers removes their groups when they end
        if error.errno not in (errno.ENOENT, errno.ENODEV):
            raise


def _everywhere(name: str) -> list[Path]:
    """Groups of that name and all in them, innermost first; such an engine makes them in every hierarchy."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    tops = [Path(place, name) for _, place, kind, *_ in mounts if kind in ("cgroup", "cgroup2")]
    return [Path(path) for top in tops for path, _, _ in os.walk(top, topdown=False)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
