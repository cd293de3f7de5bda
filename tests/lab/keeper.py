"""Ends a lab when the tests let go of it, or are gone: run as a program, with the lab's control group and
folder.

It is in no group of the lab and in a session of its own, and does nothing until its input ends or its parent
does, however. Then it kills all the lab's processes, and with them go namespaces, mounts and interfaces;
groups and folder it removes. Standard library only.
"""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from pathlib import Path

PATIENCE_S = 20.0


def main(group: Path, folder: Path) -> None:
    """Wait, and clean up."""
    parent = os.pidfd_open(os.getppid())
    print("here", flush=True)
    select.select([parent, 0], [], [])  # nobody writes: input can only end
    end = time.monotonic() + PATIENCE_S
    groups = [path for path in group.iterdir() if path.is_dir()]
    for path in sorted(
        groups, key=lambda path: path.name == "frame"
    ):  # which takes notice of the ends of others
        _kill(path, end)
    for path in (*groups, group):
        path.rmdir()
    shutil.rmtree(folder)


def _kill(group: Path, end: float) -> None:
    (group / "cgroup.kill").write_text("1")
    while "populated 1" in (group / "cgroup.events").read_text():
        if time.monotonic() > end:
            sys.exit(f"processes of {group} do not end: {(group / 'cgroup.procs').read_text().split()}")
        select.select([], [], [], 0.002)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
