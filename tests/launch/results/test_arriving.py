"""Logs that arrive while a job runs."""

from pathlib import Path

import pytest

from paddle._launch.results.arriving import Arriving
from tests.launch.jobs.conftest import plan


def test_what_roles_print_is_beside_the_collected_logs_while_they_run(tmp_path: Path) -> None:
    told: list[str] = []
    launch = plan(tmp_path)
    (tmp_path / "log").mkdir()
    arriving = Arriving(launch, told.append)
    arriving.add("trainer-1", ["one", "tw\udc80o"])
    arriving.add("trainer-1", ["three"])
    place = tmp_path / "log" / "node-1" / "train.log"
    assert place.read_text() == "one\ntw\\udc80o\nthree\n"
    assert not (tmp_path / "log" / "node-0").exists()
    (tmp_path / "log" / "node-0").write_text("in the way")
    for _ in range(3):
        arriving.add("pserver-0", ["lost"])
    assert len(told) == 1
    assert "logs are collected at the end only" in told[0]


def test_info_files_grow_byte_by_byte_and_none_leads_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    arriving = Arriving(plan(tmp_path), pytest.fail)
    word = "ä\x00".encode() + b"\xff\n"
    for data in (word[:1], word[1:]):
        arriving.grow(1, "paddle_trainer.INFO", data.decode("utf-8", "surrogateescape"))
    assert (tmp_path / "log" / "node-1" / "paddle_trainer.INFO").read_bytes() == word
    for name in ("../../out.INFO", "/tmp/out.INFO", ".INFO", "train.log", "a/b.INFO", "x.INFO\n", ""):
        arriving.grow(1, name, "evil")
    arriving.grow(7, "paddle_trainer.INFO", "a node that is not")
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"log/node-1/paddle_trainer.INFO"}


def test_a_role_that_is_not_is_written_nowhere(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    Arriving(plan(tmp_path), pytest.fail).add("../../trainer-9", ["evil"])
    assert list((tmp_path / "log").iterdir()) == []
