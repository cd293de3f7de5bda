"""Memory: how much of it this process has, and may use, as far as the system says.

It must never know what it is used for.
"""

from __future__ import annotations

import os
from pathlib import Path


def limit_bytes(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int:
    """The machine's memory, or what the control groups (v2) around this process leave of it, as containers
    do."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for folder in _folders(groups, root):
        try:
            text = (folder / "memory.max").read_text().strip()
        except OSError:  # the root group has none
            continue
        if text.isdecimal():  # not "max"
            limits.append(int(text))
    return min(limits)


def available_bytes(meminfo: Path = Path("/proc/meminfo")) -> int:
    """What could be taken now without others having to give theirs up, and is within the limit; 0 where the
    system does not say."""
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return 0
    said = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return min(limit_bytes(), *(1024 * int(kib) for kib in said)) if said else 0


def _folders(groups: Path, root: Path) -> list[Path]:
    """The group of this process and those around it."""
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return []
    paths = [Path(line.removeprefix("0::/")) for line in lines if line.startswith("0::/")]
    return [root / folder for path in paths for folder in (path, *path.parents)]


def resident_bytes() -> int:
    """What this process has in the machine's memory now, shared pages included."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
