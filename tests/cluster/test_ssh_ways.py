"""Ways to a node that are not the shortest: jump hosts, other users and ports, greetings, many nodes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cluster.over_ssh import ROOT_DIR, Job, all_gone, clear, jobs, launching, left_behind
from tests.lab.cluster import Cluster
from tests.lab.lab import Lab
from tests.lab.machine import ROOT
from tests.pretenders import ENDS
from tests.waiting import until

pytestmark = pytest.mark.cluster

TRAINS = """
import os, pathlib
print("trained as", os.environ["PADDLE_INIT_TRAINER_ID"])
pathlib.Path("output").mkdir(exist_ok=True)
"""


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher on nodes on which there was none; whatever it leaves is removed in the end."""
    clear(cluster)
    with launching(cluster) as start:

        def trains(*argv: str | Path, lab: Cluster = cluster, **how: object) -> Job:
            return start(lab, tmp_path / "one", *argv, **{"train": TRAINS, "pserver": ENDS, **how})

        yield trains


def trained(job: Job, nodes: int = 3) -> str:
    status, output, errors = job.end()
    assert (status, errors) == (0, "")
    for node in range(nodes):
        log = (job.package / f"log/node-{node}/train.log").read_text()
        assert log == f"trained as {node}\n"
    return output


def test_by_a_jump_host(launch, cluster, tmp_path) -> None:
    """The nodes let nobody but n1 in."""
    home = cluster.new_home(tmp_path / "home")  # type: ignore[attr-defined]
    config = home.ssh_config.read_text()
    jump = "Host n2 n3\n    ProxyJump root@n1\n\n"
    home.ssh_config.write_text(jump + config)
    addresses = {name: node.address for name, node in cluster.nodes.items()}
    for node in ("n2", "n3"):
        rule = ["-i", "eth0", "-p", "tcp", "--dport", "22", "!", "-s", addresses["n1"], "-j", "DROP"]
        cluster.run("iptables", "-I", "INPUT", *rule, at=node)
    try:
        trained(launch(environ={"HOME": str(home.folder)}))
    finally:
        for node in ("n2", "n3"):
            cluster.run("iptables", "-F", at=node)


def test_a_jump_host_that_cannot_reach_the_node_is_named(launch, cluster, tmp_path) -> None:
    home = cluster.new_home(tmp_path / "home")  # type: ignore[attr-defined]
    jump = "Host n2\n    ProxyJump root@n1\n\n"
    home.ssh_config.write_text(jump + home.ssh_config.read_text())
    hosts = ["root@n1", "root@n2:2223", "root@n3"]
    status, _, errors = launch(environ={"HOME": str(home.folder)}, hosts=hosts).end()
    assert status == 1
    assert (
        "node 1   root@n2  cannot reach root@10.77.0.2 port 2223 by root@10.77.0.1:22: the jump host says"
        in errors
    )


def test_as_another_user_by_another_port(launch, cluster) -> None:
    for node in cluster.names:
        cluster.run("install", "-d", "-o", "paddle", ROOT_DIR, at=node)
    output = trained(launch(hosts=[f"paddle@{name}:2222" for name in cluster.names]))
    assert "sending the workspace to 3 nodes" in output
    for node in cluster.names:
        (name,) = jobs(cluster, node)
        assert (cluster.path(node, ROOT_DIR) / name).stat().st_uid != 0


def test_by_keys_that_only_an_agent_can_use(launch, cluster, tmp_path) -> None:
    """The key of n1 has a passphrase, of that of n2 the public half is here alone, for n3 none is named."""
    home = cluster.new_home(tmp_path / "home")  # type: ignore[attr-defined]
    socket, public = tmp_path / "agent", tmp_path / "public.pub"
    public.write_text(home.key.with_suffix(".pub").read_text())
    named = f"    IdentityFile {home.key}\n    IdentitiesOnly yes\n"
    own = f"Host n1\n{named}Host n2\n    IdentityFile {public}\n    IdentitiesOnly yes\n"
    home.ssh_config.write_text(own + home.ssh_config.read_text().replace(named, ""))
    environ = {"HOME": str(home.folder), "SSH_AUTH_SOCK": str(socket)}
    with cluster.start("ssh-agent", "-D", "-a", socket, stdout=subprocess.DEVNULL) as agent:
        listed = partial(cluster.run, "ssh-add", "-l", environ=environ, check=False)
        until(lambda: listed().returncode == 1, "an agent that answers that it has no key")
        cluster.run("ssh-add", "-q", home.key, environ=environ)
        cluster.run("ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", home.key)
        home.key.with_suffix(".pub").unlink()
        try:
            trained(launch(environ=environ))
        finally:
            agent.kill()
    status, _, errors = launch(environ=environ).end()
    assert (status, "3 of 3 nodes cannot be used" in errors) == (1, True)
    assert "a key has a passphrase, and nobody is asked for it here" in errors
    assert "`ssh-add` gives it to your ssh agent" in errors


def test_where_sshd_lets_a_connection_have_two_sessions_and_no_more(launch, cluster, tmp_path) -> None:
    """As guides to safety have it; a session that has ended counts until sshd has seen it. One is too few."""
    settings = "/etc/ssh/sshd_config"
    before = cluster.path("n2", settings).read_text()
    try:
        for most in (2, 1):
            cluster.path("n2", settings).write_text(re.sub("MaxSessions .*", f"MaxSessions {most}", before))
            cluster.renew_sshd("n2")
            if most == 2:
                trained(launch())
        check = (sys.executable, "-m", "fabric", "check", f"--conf={tmp_path / 'one' / 'conf.py'}")
        environ = {"HOME": str(cluster.home.folder), "PYTHONPATH": str(ROOT / "runtime")}
        done = cluster.run(*check, cwd=ROOT, environ=environ, check=False)
        assert done.returncode == 1
        (failed,) = [line for line in done.stdout.splitlines() if "FAIL  " in line]
        assert failed.startswith("node 1 root@n2  FAIL  ssh       cannot start a program")
        assert "MaxSessions below 2" in failed
    finally:
        cluster.path("n2", settings).write_text(before)
        cluster.renew_sshd("n2")


def test_past_a_greeting_of_the_login_shell(launch, cluster) -> None:
    rc = cluster.run("sh", "-c", "echo ~/.bashrc", at="n2").stdout.strip()
    before = cluster.path("n2", rc).read_text() if cluster.path("n2", rc).exists() else ""
    cluster.path("n2", rc).write_text("echo Welcome to n2\necho to you >&2\n")
    try:
        if "Welcome" not in cluster.ssh("n2", "true").stdout:
            pytest.skip("the shell of this node reads no file before a command")
        job = launch()
        status, _, errors = job.end()
    finally:
        cluster.path("n2", rc).write_text(before)
    assert (status, errors) == (0, "")
    assert (job.package / "log/node-1/train.log").read_text() == "trained as 1\n"


def connections(lab: Lab, node: str) -> int:
    """How many of SSH a node has open."""
    lines = Path(f"/proc/{lab.holder(node)}/net/tcp").read_text().splitlines()[1:]
    return sum(line.split()[1].endswith(":0016") and line.split()[3] == "01" for line in lines)


def has_answered(lab: Lab, node: str) -> bool:
    """Whether what was started there has written something: a launcher's question is answered so."""
    for process in lab.processes(node):
        with contextlib.suppress(OSError):
            written = Path(f"/proc/{process.host_pid}/io").read_text().split("wchar: ")[1].split()[0]
            if "-I" in process.argv and int(written):
                return True
    return False


def used(job: Job) -> dict[str, int]:
    """What a launcher uses now: threads, open files, and the most memory that it ever had, in MiB."""
    process = Path(f"/proc/{job.process.pid}")
    status = dict(
        line.split(":\t") for line in (process / "status").read_text().splitlines() if ":\t" in line
    )
    return {
        "threads": int(status["Threads"]),
        "files": len(list((process / "fd").iterdir())),
        "memory": int(status["VmHWM"].split()[0]) >> 10,
    }


@pytest.mark.thorough
def test_of_sixteen_nodes_nobody_waits_for_another_but_to_be_changed(launch, make_lab, tmp_path) -> None:
    """One does not answer for a while, and then one is slow."""
    lab = make_lab(16)
    others = [name for name in lab.names if name != "n9"]
    package = tmp_path / "package"
    package.mkdir()
    (package / "train.py").write_text(TRAINS)
    (package / "large").write_bytes(os.urandom(1 << 20))
    lab.freeze("n9")
    lab.rate("n16", 4)
    job = launch(lab=lab, package=package)
    until(lambda: all(connections(lab, name) for name in others), "all others to be reached")
    until(lambda: all(has_answered(lab, name) for name in others), "all others to have answered")
    for node in lab.names:
        assert not lab.path(node, ROOT_DIR).exists(), "nothing is changed before all have answered"
    lab.thaw("n9")
    for node in lab.names[:-1]:
        until(lambda node=node: jobs(lab, node), f"a workspace on {node}")
    assert jobs(lab, "n16") == [], "which is slow, and was waited for by nobody"
    lab.rate("n16", None)
    job.wait_for("trainers")
    use = used(job)
    output = trained(job, nodes=16)
    assert "16 pservers and 16 trainers on 16 SSH nodes" in output
    assert left_behind(lab) == {}
    assert use["threads"] <= 5 * 16 + 20, use
    assert use["files"] <= 3 * 16 + 30, use
    assert use["memory"] < 256, use


def test_a_signal_while_a_node_does_not_answer(launch, make_lab) -> None:
    lab = make_lab(3)
    lab.freeze("n2")
    try:
        job = launch(lab=lab)
        job.wait_for("results")
        began = time.monotonic()
        job.process.send_signal(signal.SIGINT)
        status, output, _ = job.end()
        assert time.monotonic() - began < 15.0, "long before the connection is given up by itself"
    finally:
        lab.thaw("n2")
    assert status == 130
    assert output.endswith("ended with status 130, before any role was started\n")
    all_gone(lab)
    for node in lab.names:
        assert not lab.path(node, ROOT_DIR).exists()
