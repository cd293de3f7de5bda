"""A lab is what it says: logins by a real ssh, places of their own, and nothing left of it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lab.cluster import Cluster
from tests.lab.machine import ROOT


def test_the_head_logs_in_to_every_node_as_every_user(cluster: Cluster) -> None:
    for name, node in cluster.nodes.items():
        for user in node.users:
            assert cluster.ssh(name, "hostname; whoami", user=user).stdout.split() == [name, user]


def test_sshd_answers_at_every_port_by_name_and_by_address(cluster: Cluster) -> None:
    node = cluster.nodes["n2"]
    for port in map(str, node.ports):
        for host in (node.name, node.address):
            said = cluster.run("ssh", "-F", cluster.home.ssh_config, "-p", port, f"root@{host}", "hostname")
            assert said.stdout == "n2\n"


def test_a_node_has_a_python_of_ours_and_nothing_else_of_the_project_or_of_home(cluster: Cluster) -> None:
    cluster.run(sys.executable, "-c", "import numpy", at="n1")
    assert cluster.files("n1", ROOT / "runtime") == []
    assert not cluster.path("n1", ROOT / "test.sh").exists()
    there = cluster.run("sh", "-c", "ls -A ~", at="n1").stdout.split()
    assert set(there) <= {".ssh", *Path(sys.base_prefix).parts}
