"""How much memory a pserver may use."""

from __future__ import annotations

import os
from pathlib import Path

from paddle._pserver.memory.memory import available_bytes, limit_bytes

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_the_smallest_limit_of_the_groups_around_a_process_holds(tmp_path: Path) -> None:
    groups = tmp_path / "cgroup"
    groups.write_text("1:name=systemd:/\n0::/outer/inner\n")
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    assert limit_bytes(groups, tmp_path) == MACHINE
    (inner / "memory.max").write_text("max\n")
    assert limit_bytes(groups, tmp_path) == MACHINE
    (tmp_path / "outer" / "memory.max").write_text("4096\n")
    assert limit_bytes(groups, tmp_path) == 4096


def test_without_groups_it_is_the_machine(tmp_path: Path) -> None:
    assert limit_bytes(tmp_path / "none", tmp_path) == MACHINE


def test_what_is_available_is_what_the_system_says_within_the_limit(tmp_path: Path) -> None:
    assert 0 < available_bytes() <= MACHINE
    told = tmp_path / "meminfo"
    assert available_bytes(told) == 0
    told.write_text("MemTotal:       100 kB\nMemAvailable:   7 kB\n")
    assert available_bytes(told) == 7 << 10
    told.write_text("MemTotal:       100 kB\n")
    assert available_bytes(told) == 0
