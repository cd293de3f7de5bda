"""docs/mpi.md and docs/mpi_cn.md say the same, and name flags that are there; commands are typed by
tests/cluster/ranks/test_mpi_page.py."""

from __future__ import annotations

import re

from paddle._launch.flags import BY_CONF_NAME, BY_NAME, RANK_FLAGS

from .drawn import ROOT

ENGLISH, CHINESE = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("mpi", "mpi_cn"))
OF_MPIRUN = {"allow", "map", "mca", "oversubscribe"}
OF_OTHERS = {"platform", "nodes", "chdir", "wait"}  # sbatch's, but for the first


def test_both_have_the_same_commands_in_the_same_order() -> None:
    commands = re.findall(r"^```.*?^```", ENGLISH, re.MULTILINE | re.DOTALL)
    assert len(commands) > 8
    assert commands == re.findall(r"^```.*?^```", CHINESE, re.MULTILINE | re.DOTALL)


def test_both_have_the_same_sections_and_rows() -> None:
    for mark in ("## ", "|", "- "):
        lines = [sum(line.startswith(mark) for line in page.splitlines()) for page in (ENGLISH, CHINESE)]
        assert lines[0] == lines[1] > 0, mark


def test_flags_that_they_name_exist() -> None:
    known = BY_NAME.keys() | {flag.name for flag in RANK_FLAGS} | OF_MPIRUN | OF_OTHERS
    for page in (ENGLISH, CHINESE):
        assert set(re.findall(r"--(\w+)", page)) <= known
        assert {"PLATFORM", "MPIRUN_FLAGS", "PADDLE_NIC"} <= BY_CONF_NAME.keys()


def test_the_chinese_table_has_the_flags_of_a_rank_with_their_defaults() -> None:
    rows = re.findall(r"^\| `--(\w+)` \| (\S+) \|", CHINESE, re.MULTILINE)
    assert rows == [(flag.name, flag.render(flag.default) or "无") for flag in RANK_FLAGS]
