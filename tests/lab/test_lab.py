"""A lab's places: logins by a real ssh, programs where they were sent, and what is seen of them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.cluster import HEAD, Cluster
from tests.lab.lab import Lab
from tests.lab.machine import ROOT
from tests.lab.processes import Process
from tests.waiting import until


def ssh_says(lab: Cluster, home: Path, node: str = "n1") -> subprocess.CompletedProcess[str]:
    return lab.run("ssh", "-F", home / ".ssh" / "config", f"root@{node}", "hostname", check=False)


def test_the_head_logs_in_to_every_node_as_every_user(cluster: Cluster) -> None:
    for name, node in cluster.nodes.items():
        for user in node.users:
            assert cluster.ssh(name, "hostname; whoami", user=user).stdout.split() == [name, user]


def test_every_node_has_a_host_key_of_its_own(cluster: Cluster) -> None:
    assert len(set(cluster.host_keys.values())) == len(cluster.nodes)
    scanned = cluster.run("ssh-keyscan", "-t", "ed25519", cluster.nodes["n3"].address).stdout
    assert cluster.host_keys["n3"] in scanned


def test_sshd_answers_at_every_port_by_name_and_by_address(cluster: Cluster) -> None:
    node = cluster.nodes["n2"]
    for port, host in zip(node.ports, (node.name, node.address), strict=True):
        said = cluster.run("ssh", "-F", cluster.home.ssh_config, "-p", str(port), f"root@{host}", "hostname")
        assert said.stdout == "n2\n"


def test_nodes_log_in_to_nodes(make_lab: Callable[..., Lab]) -> None:
    cluster = make_lab(3)
    assert cluster.run("ssh", "n3", "hostname", at="n1").stdout == "n3\n"


def test_a_node_whose_key_changed_or_is_not_known_is_refused(
    make_lab: Callable[..., Lab], tmp_path: Path
) -> None:
    lab = make_lab(2)
    lab.change_host_key("n1")
    until(lambda: "HAS CHANGED" in ssh_says(lab, lab.home.folder).stderr, "a changed host key to be refused")
    assert ssh_says(lab, lab.home.folder, "n2").stdout == "n2\n"
    home = lab.new_home(tmp_path / "home")
    assert ssh_says(lab, home.folder).stdout == "n1\n"  # made after the change, it knows the new one
    home.known_hosts.write_text("")
    assert "verification failed" in ssh_says(lab, home.folder).stderr


def test_a_key_that_is_not_the_clusters_is_refused(make_lab: Callable[..., Lab], tmp_path: Path) -> None:
    lab = make_lab(1)
    home = lab.new_home(tmp_path / "home")
    home.renew_key()
    assert "Permission denied" in ssh_says(lab, home.folder).stderr


def test_a_node_has_a_python_of_ours_and_nothing_else_of_the_project_or_of_home(cluster: Cluster) -> None:
    cluster.run(sys.executable, "-c", "import numpy", at="n1")
    cluster.ssh("n1", f"{sys.executable} -c 'import numpy'", user="paddle")
    assert not cluster.path("n1", ROOT / "test.sh").exists()
    there = cluster.run("sh", "-c", "ls -A ~", at="n1").stdout.split()
    assert set(there) <= {".ssh", *Path(sys.base_prefix).parts, *Path(sys.prefix).parts}


def test_a_node_cannot_write_what_it_is_shown(cluster: Cluster) -> None:
    said = cluster.run("touch", f"{sys.prefix}/x", at="n1", check=False)
    assert "Read-only file system" in said.stderr


def test_what_a_node_writes_only_it_has(cluster: Cluster) -> None:
    for place in ("/tmp/mine", "/var/mine", "/dev/shm/mine", "/run/mine"):
        cluster.run("sh", "-c", f"hostname >{place}", at="n1")
        assert cluster.path("n1", place).read_text() == "n1\n"
        assert not cluster.path("n2", place).exists()
        assert not Path(place).exists()
    cluster.run("mkdir", "-p", "/tmp/folder/in", at="n1")
    cluster.run("touch", "/tmp/folder/in/file", at="n1")
    assert cluster.files("n1", "/tmp/folder") == ["in/", "in/file"]
    assert cluster.files("n2", "/tmp/folder") == []


def test_a_program_of_the_head_has_its_home_its_names_and_the_signals_it_is_sent(cluster: Cluster) -> None:
    script = "import os, signal, socket; print(os.getcwd(), os.environ['HOME'], os.environ['A'],"
    script += "socket.gethostbyname('n2'), *sorted(os.listdir('/sys/class/net')), flush=True); signal.pause()"
    program = cluster.start(
        sys.executable, "-c", script, cwd=ROOT, environ={"A": "b"}, stdout=subprocess.PIPE, text=True
    )
    with program:
        assert program.stdout
        said = program.stdout.readline().split()
        assert said[:4] == [str(ROOT), str(cluster.home.folder), "b", cluster.nodes["n2"].address]
        assert "lo" in said[4:] and any(name.startswith("br") for name in said[4:])
        assert [one.host_pid for one in cluster.processes(HEAD)] == [program.pid]
        program.send_signal(signal.SIGINT)
    assert program.returncode == -signal.SIGINT
    assert cluster.processes(HEAD) == []


def test_what_runs_on_a_node_is_seen_with_its_environment_whoever_its_parents_are(cluster: Cluster) -> None:
    cluster.ssh(
        "n1", "JOB=7 setsid -f sleep 1000 </dev/null >/dev/null 2>&1; JOB=8 setsid -f sleep 1001 >&- 2>&-"
    )

    def sleepers(job: str) -> list[Process]:
        """What setsid has become."""
        return [
            one for one in cluster.processes("n1") if one.environ.get("JOB") == job and one.argv[0] == "sleep"
        ]

    until(lambda: sleepers("7") and sleepers("8"), "both to sleep")
    (sleeper,) = sleepers("7")
    assert sleeper.argv == ("sleep", "1000")
    assert cluster.run("cat", f"/proc/{sleeper.pid}/comm", at="n1").stdout == "sleep\n"
    assert f" {sleeper.started} " in Path(f"/proc/{sleeper.host_pid}/stat").read_text()
    assert all(one.environ.get("JOB") != "7" for one in cluster.processes("n2"))
    cluster.run("kill", str(sleeper.pid), at="n1")
    until(lambda: not sleepers("7"), "the end of what was killed")
    (other,) = sleepers("8")
    os.kill(other.host_pid, signal.SIGKILL)


def sleepers(cluster: Cluster) -> list[Process]:
    return [one for one in cluster.processes("n3") if one.argv == ("sleep", "2000")]


def test_a_program_started_on_a_node_ends_with_who_brought_it_there(cluster: Cluster) -> None:
    with cluster.start("sleep", "2000", at="n3") as brought:
        until(lambda: sleepers(cluster), "the program to run")
        brought.kill()
    until(lambda: not sleepers(cluster), "the end of the program")


def test_a_failed_program_is_told_with_its_words(cluster: Cluster) -> None:
    with pytest.raises(AssertionError, match="no such thing"):
        cluster.run("sh", "-c", "echo no such thing >&2; exit 3", at="n2")
    assert cluster.run("sh", "-c", "exit 3", at="n2", check=False).returncode == 3
    with pytest.raises(subprocess.TimeoutExpired):
        cluster.run("sleep", "1000", at="n2", timeout_s=0.05)


def test_labs_stand_side_by_side_and_do_not_meet(make_lab: Callable[..., Lab]) -> None:
    one, other = make_lab(1), make_lab(2)
    one.run("touch", "/tmp/one", at="n1")
    assert other.files("n1", "/tmp") == []
    assert one.ssh("n1", "hostname").stdout == other.ssh("n1", "hostname").stdout == "n1\n"
    with one.inside(), pytest.raises(OSError):  # nobody there has it
        socket.create_connection((other.nodes["n2"].address, 22), timeout=0.3).close()


def test_a_lab_that_cannot_start_says_why_and_is_gone(
    need_lab: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"n1 does not start: (.|\n)*nowhere"):
        Lab(1, shares=[tmp_path / "nowhere"])
    assert list(tmp_path.iterdir()) == []
