"""Nodes that cannot be used: each is named with why and what to do, and nothing is changed on any node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from paramiko import HostKeys

from tests.cluster.over_ssh import PROMISED_S, ROOT_DIR, clear, launching, left
from tests.lab.cluster import Cluster
from tests.lab.lab import Lab
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

OTHERS = ["root@n1", "root@n3"]
NO_SSHD = """
import socket
listening = socket.create_server(("", 2224))
print("x", flush=True)
while True:
    listening.accept()[0].send(b"220 mail" * 200)
"""


@pytest.fixture
def refused(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Launch, to be refused; gives what was said, once it is sure that nothing was changed."""
    clear(cluster)
    with launching(cluster) as start:

        def launch(
            *argv: str | Path,
            lab: Cluster = cluster,
            strangers: object = {},
            **how: object,
        ) -> str:
            status, output, errors = start(lab, tmp_path, *argv, **how).end()
            assert status == 1
            assert output.endswith("ended with status 1, before any role was started\n")
            assert "Traceback" not in output + errors
            for node in lab.names:
                assert not lab.path(node, ROOT_DIR).exists()
            until(lambda: left(lab) == strangers, "the end of what nodes were asked with", PROMISED_S)
            return errors

        yield launch


def test_a_name_that_nobody_knows(refused) -> None:
    errors = refused(hosts=["root@n1", "root@no-such-host", "root@n3"])
    assert "3 of 3 nodes cannot be used; nothing was started or changed on any" in errors
    assert (
        "node 1   root@no-such-host  cannot reach root@no-such-host port 22: the name no-such-host" in errors
    )
    assert "node 0   root@n1            its trainer would not find no-such-host" in errors


def test_a_port_at_which_no_sshd_listens(refused) -> None:
    errors = refused(hosts=["root@n2:2223", *OTHERS])
    assert "the connection was refused, so no sshd listens there" in errors


def test_something_else_than_an_sshd(refused, cluster) -> None:
    with cluster.start("python3", "-c", NO_SSHD, at="n2", stdout=-1, text=True) as other:
        assert other.stdout.readline() == "x\n"
        errors = refused(hosts=["root@n2:2224", *OTHERS], strangers={"n2": [("python3", "-c", NO_SSHD)]})
        other.kill()
    assert "cannot speak SSH with root@10.77.0.2 port 2224: " in errors
    assert "`ssh -p 2224 root@10.77.0.2` tries the same" in errors


def test_a_machine_that_is_off(refused, make_lab) -> None:
    lab = make_lab(2)
    lab.cut("n2")
    errors = refused(lab=lab)
    assert "node 1   root@n2  cannot reach root@10.77.0.2 port 22: " in errors
    assert "Is the machine on" in errors


def test_an_unknown_and_a_changed_host_key(refused, make_lab, tmp_path) -> None:
    lab: Lab = make_lab(3)
    lines = lab.home.known_hosts.read_text().splitlines()
    lab.home.known_hosts.write_text("".join(f"{line}\n" for line in lines if "n1" not in line.split()[0]))
    shown = lab.change_host_key("n2").split()[1]
    errors = refused(lab=lab)
    assert "2 of 3 nodes cannot be used" in errors
    first, second, last = errors.splitlines()[1:]
    assert last.startswith("`fab check` checks all nodes")
    assert first.startswith("  node 0   root@n1  its host key is in no known_hosts")
    assert "`fab trust` shows the keys of all nodes" in first
    assert second.startswith("  node 1   root@n2  its host key has changed")
    for how in ("any", "new"):  # an unknown one is taken then, a changed one never
        errors = refused(f"--host_keys={how}", lab=lab)
        assert "1 of 3 nodes cannot be used" in errors
        assert "its host key has changed" in errors
        known = HostKeys(str(lab.home.known_hosts)).lookup("10.77.0.1")
        assert (known is not None) == (how == "new")
    assert shown not in lab.home.known_hosts.read_text()


def test_a_key_that_does_not_open(refused, cluster, tmp_path) -> None:
    home = cluster.new_home(tmp_path / "home")  # type: ignore[attr-defined]
    home.key.unlink()
    cluster.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home.key)
    errors = refused(environ={"HOME": str(home.folder)})
    assert "3 of 3 nodes cannot be used" in errors
    assert f"Keys tried: {home.key}" in errors
    assert "`ssh-copy-id` brings a key to the node" in errors


def test_a_node_without_such_a_python(refused) -> None:
    errors = refused(conf="NODE_PYTHON = '/opt/no/python'\n")
    assert "it has no Python: there is no /opt/no/python for this user" in errors


def test_a_python_that_lacks_packages(refused) -> None:
    errors = refused(conf="NODE_PYTHON = '/usr/bin/python3'\n")
    assert "its Python /usr/bin/python3 (3." in errors
    assert "lacks aiohttp>=3.9" in errors
    assert "`fab install` brings them there" in errors


def test_a_setting_is_never_a_command(refused, cluster) -> None:
    refused(conf=f"NODE_PYTHON = '{sys.executable}; touch /srv/mark'\n")
    refused("--root_dir=/srv/$(touch /srv/mark)/`touch /srv/mark`", "--node_python=python3; touch /srv/mark")
    for node in cluster.names:
        assert not cluster.path(node, "/srv/mark").exists()


def test_a_login_shell_that_runs_nothing(refused, cluster) -> None:
    cluster.run("usermod", "-s", "/usr/sbin/nologin", "paddle", at="n2")
    try:
        errors = refused(hosts=["root@n1", "paddle@n2", "root@n3"])
    finally:
        cluster.run("usermod", "-s", "/bin/sh", "paddle", at="n2")
    assert "node 1   paddle@n2  what was to run there ended with status 1" in errors
    assert "Its user needs a login shell that runs commands" in errors


def test_a_folder_that_its_user_cannot_write_to(refused) -> None:
    errors = refused(hosts=["root@n1", "paddle@n2", "root@n3"])
    assert f"node 1   paddle@n2  cannot make {ROOT_DIR}/JOB" in errors
    assert "/srv is not a folder that its user can write to" in errors


def test_a_network_device_that_is_not_there_or_is_another(refused) -> None:
    errors = refused("--nics=ib0")
    assert "3 of 3 nodes cannot be used" in errors
    assert (
        "it has no network device 'ib0' with an IPv4 address. It has lo (127.0.0.1), eth0 (10.77.0.1)"
        in errors
    )


def test_a_deployed_workspace_that_is_missing_on_one_node(refused, cluster) -> None:
    for node in ("n1", "n3"):
        cluster.run("mkdir", "-p", "/srv/mine", at=node)
        cluster.path(node, "/srv/mine/train.py").write_text("")
    errors = refused("-p", "", "--job_workspace=/srv/mine")
    assert "1 of 3 nodes cannot be used" in errors
    assert "node 1   root@n2  there is no /srv/mine" in errors
