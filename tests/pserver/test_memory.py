"""How much memory a pserver may use."""

from __future__ import annotations

import os
from pathlib import Path

from paddle._pserver.memory import limit_bytes

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
