"""Of a cluster of containers nothing is left either, and its files hold no key."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import ground
from tests.lab.compose import Compose
from tests.lab.group import hierarchies
from tests.lab.image import COMPOSE
from tests.lab.machine import ROOT
from tests.lab.test_end import Traces, interfaces
from tests.waiting import until

KILLED = """
import dataclasses, json, os, signal
from tests.lab.compose import Compose
from tests.lab.test_end import Traces
cluster = Compose()
cluster.freeze("n2")
cluster.cut("n3")
print(json.dumps(dataclasses.asdict(Traces.of(cluster))), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def need_containers(need_lab: None) -> None:
    ground.require(of_containers=True)


def left(traces: Traces) -> list[str]:
    groups = [str(top / Path(traces.folder).name) for top in hierarchies()]
    return traces.left() + [group for group in groups if Path(group).exists()]


def test_nothing_is_left_of_containers_whose_tests_are_killed(need_containers: None) -> None:
    before = interfaces()
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    traces = Traces(**json.loads(killed.stdout))
    until(lambda: not left(traces), "what is left to be gone")
    assert interfaces() == before


def test_nothing_is_left_of_containers_that_are_closed(need_containers: None) -> None:
    with Compose() as cluster:
        traces = Traces.of(cluster)
        assert left(traces)
    until(lambda: not left(traces), "what is left to be gone")


def test_its_files_hold_no_key_and_no_password() -> None:
    text = "".join(path.read_text() for path in COMPOSE.iterdir())
    assert not re.search(r"PRIVATE KEY|ssh-ed25519|ssh-rsa AAAA|chpasswd|password=", text)
    assert "PasswordAuthentication no" in text


def test_the_files_that_are_shipped_make_nodes_that_lack_nothing_but_packages(
    shipped_cluster: Compose, tmp_path: Path
) -> None:
    """Built by the Dockerfile, as many as NODES says; `fab install` brings the rest."""
    nodes = shipped_cluster
    for user in nodes.nodes["n1"].users:
        command = "python3 -c 'import ensurepip, venv' && rsync --version && ps -e && ip address"
        assert nodes.nodes["n1"].address in nodes.ssh("n1", command, user=user).stdout
    assert len(set(nodes.host_keys.values())) == len(nodes.names)
    hosts = [f"root@{node.address}" for node in nodes.nodes.values()]
    conf = tmp_path / "conf.py"
    conf.write_text(f"HOSTS = {hosts}\nROOT_DIR = '/srv/jobs'\nPADDLE_NIC = 'eth0'\n")
    fab = (sys.executable, "-m", "fabric", "check", f"--conf={conf}", "--format=json")
    done = nodes.run(*fab, cwd=ROOT, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [(one["node"], one["what"]) for one in found if one["state"] == "fail"]
    assert failed == [(0, "packages"), (1, "packages")], done
