"""`fab check` and `fab trust` where nodes are this machine: from settings to an exit status."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.errors import SettingsError
from paddle._launch.nodes import commands
from tests.cluster.by_hand import free_port
from tests.fresh import ROOT


def conf(folder: Path, text: str = "", hosts: str = "[]") -> str:
    port = free_port(["127.0.0.1", "127.0.0.2"])
    (folder / "conf.py").write_text(f"HOSTS = {hosts}\nROOT_DIR = 'jobs'\nPADDLE_PORT = {port}\n{text}")
    return str(folder / "conf.py")


def found(capsys: pytest.CaptureFixture[str]) -> dict[tuple[int, str], dict[str, object]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {(one["node"], one["what"]): one for one in lines}


def children() -> set[str]:
    """Processes that this one has, whichever thread began them."""
    found: set[str] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            found |= set(listed.read_text().split())
    return found


def files(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*"))


def test_without_nodes_this_machine_is_one_and_nothing_on_it_is_changed(tmp_path: Path, capsys) -> None:
    written = conf(tmp_path)
    before, had = files(tmp_path), children()
    status = commands.check("", "", written, "json", whole=False)
    one = found(capsys)
    assert status == 0, one
    assert {node for node, _ in one} == {0}
    assert one[0, "python"]["text"] == f"{sys.executable}, {'.'.join(map(str, sys.version_info[:3]))}"
    assert str(one[0, "ports"]["text"]).endswith(" free at 127.0.0.1")
    assert files(tmp_path) == before
    assert children() <= had


def test_local_nodes_reach_each_other_and_a_taken_port_is_named_with_its_holder(
    tmp_path: Path, capsys
) -> None:
    written = conf(tmp_path, hosts="['local', 'local']")
    port = int((tmp_path / "conf.py").read_text().split("PADDLE_PORT = ")[1])
    with socket.create_server(("127.0.0.2", port)):
        status = commands.check("", "--ports_num=2", written, "json", whole=False)
    one = found(capsys)
    assert status == 1
    assert one[0, "reach"]["state"] == one[1, "reach"]["state"] == "ok", one
    assert one[0, "ports"]["state"] == "ok"
    assert f"{port} held by process " in str(one[1, "ports"]["text"])


def test_a_package_that_would_hide_the_runtime_is_told(tmp_path: Path, capsys) -> None:
    package = tmp_path / "package"
    (package / "paddle").mkdir(parents=True)
    (package / "train.py").write_text("")
    status = commands.check(str(package), "", conf(tmp_path), "json", whole=False)
    told = found(capsys)[None, "package"]  # type: ignore[index]
    assert (status, told["state"]) == (1, "fail")
    assert "would hide the paddle that train.py imports" in str(told["text"])


def test_devices_at_which_nobody_would_be_heard_are_told_beside_all_else(tmp_path: Path, capsys) -> None:
    status = commands.check("", "", conf(tmp_path, "PADDLE_NIC = 'eth7'\n"), "text", whole=False)
    said = capsys.readouterr().out
    assert status == 1
    assert said.startswith(
        "launch        FAIL  conf      PADDLE_NIC in conf.py: 'eth7' is not a device of local"
    )
    assert "node 0 local  ok    clock" in said


def test_settings_that_cannot_be_are_no_findings(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no setting PADDLE_PROT; did you mean PADDLE_PORT"):
        commands.check("", "", conf(tmp_path, "PADDLE_PROT = 1\n"), "text", whole=False)


def test_settings_may_be_a_pipe_of_the_shells() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"PADDLE_PORT = 7171\n")
    os.close(writer)
    assert commands.settings_of(f"/dev/fd/{reader}", "")["port"] == 7171
    os.close(reader)


@pytest.mark.parametrize("folder", [".", "docs/decisions"])
def test_the_tasks_work_from_the_root_and_below_it(folder: str, tmp_path: Path) -> None:
    for task, status, words in [
        ("trust", 0, "all nodes are this machine"),
        ("check --format=xml", 2, "fab: "),
    ]:
        done = subprocess.run(
            [sys.executable, "-m", "fabric", *task.split(), f"--conf={conf(tmp_path)}"],
            cwd=ROOT / folder,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, words in done.stdout + done.stderr) == (status, True), done
