"""`fab check` and `fab trust` on real machines: what is told of them, and that nothing on them is changed."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.machines.known_hosts import HostKey
from tests.cluster.over_ssh import all_gone, left
from tests.lab.cluster import Cluster
from tests.lab.home import Home
from tests.lab.lab import Lab
from tests.lab.machine import ROOT
from tests.lab.partition import rules
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

HOLDS = "import signal, socket; s = socket.create_server(('', 7164)); print('x', flush=True); signal.pause()"


class Head:
    """A shell at the head of a lab."""

    def __init__(self, lab: Cluster, folder: Path, home: Home | None = None) -> None:
        self.lab, self.home = lab, home or lab.home
        self._folder = folder
        self.write()

    def write(self, hosts: Sequence[str] = (), **settings: str | int) -> None:
        """Write conf.py; without ``hosts`` for all nodes."""
        names = list(hosts) or [f"root@{name}" for name in self.lab.names]
        own = {"NODE_PYTHON": sys.executable, "ROOT_DIR": "/srv/jobs", "PADDLE_NIC": "eth0", **settings}
        lines = [f"HOSTS = {names}", *(f"{name} = {value!r}" for name, value in own.items())]
        (self._folder / "conf.py").write_text("\n".join(lines))

    def fab(self, *argv: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a task to its end."""
        environ = {"HOME": str(self.home.folder), "PYTHONPATH": str(ROOT / "runtime")}
        command = (sys.executable, "-m", "fabric", argv[0], f"--conf={self._folder / 'conf.py'}", *argv[1:])
        done = self.lab.run(*command, cwd=ROOT / "docs", environ=environ, check=False, **how)
        assert "Traceback" not in done.stdout + done.stderr, done
        return done

    def check(self, *argv: str) -> tuple[int, dict[tuple[int | None, str, str], str]]:
        """What is found: text by node, what it is about, and state."""
        done = self.fab("check", "--format=json", *argv)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, {(one["node"], one["what"], one["state"]): one["text"] for one in found}

    def terminal(self, task: str, answer: bytes) -> tuple[int, str]:
        """Run a task at a terminal, answer its question; gives status and what the terminal showed."""
        controller, terminal = pty.openpty()
        command = (sys.executable, "-m", "fabric", task, f"--conf={self._folder / 'conf.py'}")
        environ = {"HOME": str(self.home.folder), "PYTHONPATH": str(ROOT / "runtime")}
        with self.lab.start(
            *command, cwd=ROOT, environ=environ, stdin=terminal, stdout=terminal, stderr=terminal
        ) as shell:
            os.close(terminal)
            shown = b""
            while data := _read(controller):
                shown += data
                if answer and b"[y/N] " in shown:
                    os.write(controller, answer)
                    answer = b""
        os.close(controller)
        return shell.returncode, shown.decode()


def _read(controller: int) -> bytes:
    try:
        return os.read(controller, 1 << 16)
    except OSError:  # nobody has the terminal open any more
        return b""


@pytest.fixture
def stranger(make_lab: Callable[..., Lab], tmp_path: Path) -> Iterator[Head]:
    """At the head of a lab whose nodes it does not know."""
    lab = make_lab(3)
    home = lab.new_home(tmp_path / "home")
    home.known_hosts.write_text("# mine\n")
    home.ssh_config.write_text("Host *\n    HashKnownHosts no\n" + home.ssh_config.read_text())
    yield Head(lab, tmp_path, home)
    all_gone(lab)


def on_disk(lab: Lab) -> dict[str, tuple[int, int]]:
    """All that nodes have written, ever: their disks are layers over this machine's own files."""
    found = {}
    for name in lab.names:
        for path in (lab.folder / "disks" / name).rglob("*"):
            if path.is_file() and not path.is_symlink():
                status = path.stat()
                found[str(path)] = status.st_size, status.st_mtime_ns
    return found


def test_a_cluster_that_is_well_is_said_to_be_and_left_as_it_was(make_lab, tmp_path) -> None:
    lab: Lab = make_lab(3)
    lab.ssh("n1", "true")
    head, before = Head(lab, tmp_path), on_disk(lab)
    (tmp_path / "train.py").write_text("")
    status, found = head.check(f"--package={tmp_path}")
    failed = {key: text for key, text in found.items() if key[2] == "fail"}
    assert (status, failed) == (0, {})
    for node in range(3):
        name = f"n{node + 1}"
        shown = lab.host_keys[name].split()[0]
        said = found[node, "ssh", "ok"]
        assert re.match(
            rf"logged in as root@10.77.0.{node + 1} port 22 in \d+\.\d\d s; host {name}, key {shown}", said
        )
        assert found[node, "reach", "ok"] == f"2 other nodes reach it at {name}"
        assert found[node, "ports", "ok"] == f"7164 free at 10.77.0.{node + 1}"
        assert found[node, "clock", "ok"] == "that of this machine"
        assert not lab.path(name, "/srv/jobs").exists()
    assert on_disk(lab) == before
    all_gone(lab)


def test_what_is_wrong_is_told_of_every_node_at_once(make_lab, tmp_path) -> None:
    lab: Lab = make_lab(8, disk_mb=64)
    own = Head(lab, tmp_path)
    hosts = [f"root@n{node}" for node in range(1, 8)]
    own.write([*hosts[:2], "paddle@n3", hosts[3], "root@n5:2223", *hosts[5:], "root@nowhere"])
    lab.fill_disk("n1", leave_bytes=8192)
    lab.run("sh", "-c", "mkdir /srv/jobs && mount -t tmpfs -o noexec none /srv/jobs", at="n2")
    lab.filter(_without(lab, "n2", "n4"))
    lab.run("usermod", "-s", "/usr/sbin/nologin", "paddle", at="n3")
    lab.change_host_key("n6")
    with lab.start("python3", "-c", HOLDS, at="n7", stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "x\n"
        status, found = own.check()
        holder.kill()
    assert status == 1
    wanted = {
        (0, "disk", "fail"): "no room for /srv/jobs/JOB<date>: it needs ",
        (1, "disk", "warn"): "`mount -o remount,exec` there",
        (1, "reach", "fail"): "node 3 (n4): no answer within 3 s at n2:7164. A firewall",
        (2, "python", "fail"): "Its user needs a login shell that runs commands",
        (3, "reach", "fail"): "node 1 (n2): no answer within 3 s at n4:7164. A firewall",
        (4, "ssh", "fail"): "the connection was refused, so no sshd listens there",
        (5, "ssh", "fail"): "forget the old key, `ssh-keygen -R 10.77.0.6 -f ",
        (6, "ports", "fail"): "7164 held by process ",
        (7, "ssh", "fail"): "the name nowhere has no address here",
    }
    assert {key: words in found.get(key, "") for key, words in wanted.items()} == dict.fromkeys(wanted, True)
    assert {key for key in found if key[2] == "fail"} == {key for key in wanted if key[2] == "fail"}, found


def _without(lab: Lab, one: str, other: str) -> str:
    alone = [name for name in lab.addresses if name not in (one, other)]
    return rules(lab.addresses, [[*alone, one], [*alone, other]])


@pytest.mark.parametrize(
    ("settings", "what", "words"),
    [
        ({"NODE_PYTHON": "/opt/no/python"}, "python", "it has no Python: there is no /opt/no/python"),
        ({"NODE_PYTHON": "/usr/bin/python3"}, "packages", "`fab install` brings them there"),
        ({"PADDLE_NIC": "ib0"}, "network", "it has no network device 'ib0' with an IPv4 address. It has lo"),
    ],
)
def test_settings_that_no_node_can_meet_are_told_of_each(
    cluster: Cluster, tmp_path: Path, settings: dict[str, str], what: str, words: str
) -> None:
    head = Head(cluster, tmp_path)
    head.write(**settings)
    status, found = head.check()
    assert status == 1
    assert [words in found.get((node, what, "fail"), "") for node in range(3)] == [True] * 3, found


def test_a_folder_that_one_may_not_even_look_into_is_named(cluster: Cluster, tmp_path: Path) -> None:
    head = Head(cluster, tmp_path)
    cluster.run("install", "-d", "-m", "700", "/srv/closed", at="n1")
    head.write(["paddle@n1"], ROOT_DIR="/srv/closed/jobs")
    status, found = head.check()
    assert status == 1
    assert "/srv/closed is not a folder that its user can write to" in found.get((0, "disk", "fail"), ""), (
        found
    )


def test_unknown_hosts_become_known_after_a_yes_at_a_terminal(stranger: Head) -> None:
    status, found = stranger.check()
    assert status == 1
    assert "`fab trust` shows the keys of all nodes" in found[0, "ssh", "fail"]
    assert stranger.fab("trust").returncode == 1, "there is nobody to ask"
    status, shown = stranger.terminal("trust", b"n\n")
    assert (status, stranger.home.known_hosts.read_text()) == (1, "# mine\n")
    for name, key in stranger.lab.host_keys.items():
        assert f"{stranger.lab.addresses[name]}  {key.split()[0]} SHA256:" in shown
    status, shown = stranger.terminal("trust", b"y\n")
    assert (status, "3 keys added to " in shown) == (0, True), shown
    known = stranger.home.known_hosts.read_text()
    keys = {stranger.lab.addresses[name]: key for name, key in stranger.lab.host_keys.items()}
    assert known == "# mine\n" + "".join(f"{address} {key}\n" for address, key in sorted(keys.items()))
    assert stranger.check()[0] == 0
    assert stranger.fab("trust", "--yes").returncode == 0
    assert stranger.home.known_hosts.read_text() == known, "what is known is not added again"


@pytest.mark.thorough
def test_a_host_whose_key_changed_is_never_taken_for_the_same(stranger: Head) -> None:
    assert stranger.fab("trust", "--yes").returncode == 0
    known = stranger.home.known_hosts.read_text()
    old, new = stranger.lab.host_keys["n2"], stranger.lab.change_host_key("n2")  # type: ignore[attr-defined]
    for argv in (["trust", "--yes"], ["trust"]):
        done = stranger.fab(*argv)
        assert done.returncode == 1
        assert f"10.77.0.2 now shows {_fingerprint(new)}, and known_hosts" in done.stdout
        assert f"has {_fingerprint(old)}." in done.stdout
        assert stranger.home.known_hosts.read_text() == known
    advice = re.search(r"`(ssh-keygen -R [^`]+)`", done.stdout)
    assert advice
    stranger.lab.run("sh", "-c", advice[1], environ={"HOME": str(stranger.home.folder)})
    assert stranger.fab("trust", "--yes").returncode == 0
    assert new in stranger.home.known_hosts.read_text()
    assert stranger.check()[0] == 0


def _fingerprint(shown: str) -> str:
    return str(HostKey(*shown.split()[:2]))


def test_jump_hosts_become_known_before_what_is_behind_them(stranger: Head) -> None:
    config = stranger.home.ssh_config.read_text()
    stranger.home.ssh_config.write_text("Host n2 n3\n    ProxyJump root@n1\n\n" + config)
    stranger.lab.partition([["head", "n1"], ["n1", "n2", "n3"]])
    stranger.write(["root@n2:2222", "root@n3"])
    done = stranger.fab("trust", "--yes")
    assert done.returncode == 0
    first, *others = done.stdout.splitlines()
    assert first.startswith("jump host of nodes 0-1  10.77.0.1  ssh-ed25519 SHA256:")
    assert "node 0 root@n2  [10.77.0.2]:2222  ssh-ed25519 SHA256:" in others[0]
    assert "node 1 root@n3  10.77.0.3  ssh-ed25519 SHA256:" in others[1]
    assert stranger.check()[0] == 0


def test_nothing_of_a_check_that_is_interrupted_goes_on(make_lab, tmp_path) -> None:
    lab: Lab = make_lab(2)
    Head(lab, tmp_path).write()
    lab.freeze("n2")
    command = (sys.executable, "-m", "fabric", "check", f"--conf={tmp_path / 'conf.py'}")
    environ = {"HOME": str(lab.home.folder), "PYTHONPATH": str(ROOT / "runtime")}
    with lab.start(*command, cwd=ROOT, environ=environ, stdout=subprocess.DEVNULL, stderr=-3) as shell:
        until(lambda: left(lab, ["n1"]).get("n1"), "the program on the node that answers")
        shell.send_signal(signal.SIGINT)
        assert shell.wait(PATIENCE_S) == 130
    all_gone(lab, nodes=["n1"])
    lab.thaw("n2")
    all_gone(lab)
