"""What is wrong with a node is said once, with what to do; what is well is said, too."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import msgspec
import pytest

from paddle._launch.errors import NodeUnfit
from paddle._launch.machines.said import understood
from paddle._launch.nodes.diagnosis import of_all, of_node, twins
from paddle._launch.nodes.findings import Finding, State
from paddle._launch.nodes.survey import Disk, Memory, Port, Seen
from tests.launch.nodes.visits import FACTS, SEEN, visit

HELD = Port("10.0.0.1", 7164, "taken", "process 12 (nc -l)", 12)
MANY = {12: "python train.py", 13: "python -m paddle"}
JOBS = {"JOB1-a": MANY}


def judged(**how: Any) -> list[Finding]:
    return list(of_node(visit(**how), encrypts=True))


def test_of_a_node_on_which_all_is_well_all_is_said_to_be() -> None:
    found = judged()
    assert {one.state for one in found} == {State.OK}
    whats = "ssh python packages runtime paddle disk memory network ports clock"
    assert " ".join(one.what for one in found) == whats


def test_a_local_node_is_not_judged_by_what_only_other_machines_need() -> None:
    found = judged(is_local=True, wanted={"nics": ()}, facts={"addresses": {}})
    whats = "machine python packages paddle disk memory ports clock"
    assert " ".join(one.what for one in found) == whats
    assert {one.state for one in found} == {State.OK}


@pytest.mark.parametrize(
    ("what", "state", "how", "words"),
    [
        (
            "packages",
            State.FAIL,
            {"facts": {"packages": {**FACTS.packages, "numba": None}}},
            ["lacks numba>=0.60", "`fab install`"],
        ),
        (
            "workspace",
            State.FAIL,
            {"seen": {"shadows": ["paddle.py"]}},
            ["JOB<date>/paddle.py would hide the paddle that train.py imports"],
        ),
        (
            "paddle",
            State.WARN,
            {
                "facts": {"packages": {**FACTS.packages, "paddlepaddle": "2.6.1"}},
                "seen": {"paddle": "/usr/lib/python3/dist-packages/paddle/__init__.py"},
            },
            [
                "a real paddlepaddle 2.6.1, /usr/lib",
                "`/usr/bin/python3 -m pip uninstall paddlepaddle`",
                "`fab",
            ],
        ),
        (
            "paddle",
            State.WARN,
            {"seen": {"paddle": "/x/paddle.py"}},
            ["else that is called paddle, /x/paddle.py"],
        ),
        ("disk", State.FAIL, {"facts": {"free": 999}}, ["needs 1,000 bytes, /srv has 999 left", "ROOT_DIR"]),
        (
            "disk",
            State.FAIL,
            {"facts": {"is_writable": False}},
            ["/srv is not a folder that its user can write"],
        ),
        (
            "disk",
            State.FAIL,
            {"facts": {"is_writable": False}, "seen": {"disk": Disk(1, False, True)}},
            ["/srv is mounted read-only. Mount it anew"],
        ),
        (
            "disk",
            State.FAIL,
            {"facts": {"free_files": 99}, "wanted": {"count": 100}},
            ["100 files and folders are sent", "can take 99 more", "`df -i /srv`"],
        ),
        ("disk", State.WARN, {"facts": {"free_files": 9999}}, ["takes 9,999 files more", "`df -i /srv`"]),
        ("disk", State.WARN, {"facts": {"free": 1 << 28}}, ["268.4 MB left", "`fab clean`"]),
        (
            "disk",
            State.WARN,
            {"seen": {"disk": Disk(1, True, False)}},
            ["noexec", "`mount -o remount,exec`", "should you want one"],
        ),
        (
            "disk",
            State.FAIL,
            {
                "facts": {"python": "/srv/jobs/.paddle/venv/bin/python"},
                "seen": {"disk": Disk(1, True, False)},
            },
            ["/srv is mounted noexec", "/srv/jobs/.paddle cannot load its packages", "another ROOT_DIR"],
        ),
        (
            "memory",
            State.WARN,
            {"seen": {"memory": Memory(1 << 30, 1 << 28)}},
            ["268.4 MB of 1.1 GB", "`ps"],
        ),
        ("cores", State.WARN, {"seen": {"cores": 1}}, ["2 ports are as many processes, on 1 cores"]),
        ("cores", State.WARN, {"seen": {"load": 40.0}}, ["load 40.0 on 8 cores"]),
        ("network", State.FAIL, {"wanted": {"nics": ("ib0",)}}, ["no network device 'ib0'", "PADDLE_NIC"]),
        ("network", State.FAIL, {"wanted": {"nics": ("eth1",)}}, ["would not be heard"]),
        (
            "ports",
            State.FAIL,
            {"seen": {"ports": [HELD, SEEN.ports[1]]}},
            ["7164 held by process 12 (nc -l). End that; PADDLE_PORT"],
        ),
        (
            "ports",
            State.FAIL,
            {
                "seen": {
                    "ports": [HELD, Port("10.0.0.1", 7165, "taken", "process 13 (x)", 13)],
                    "jobs": JOBS,
                },
                "live": frozenset({"JOB1-a"}),
            },
            ["7164, 7165 held by your job JOB1-a. `fab stop --job=JOB1-a` ends that; PADDLE_PORT"],
        ),
        (
            "ports",
            State.FAIL,
            {"seen": {"ports": [HELD], "jobs": JOBS}},
            ["7164 held by process 12 (nc -l) of JOB1-a. End that"],
        ),
        (
            "ports",
            State.FAIL,
            {"seen": {"ports": [Port("10.0.0.1", 80, "refused", "Permission denied", 0)]}},
            ["cannot listen on 80 of 10.0.0.1: Permission denied. Ports below 1024 are for root; PADDLE_"],
        ),
        ("ports", State.WARN, {"asked": {"ports": (40000,)}}, ["40000 may be given", "32768-60999"]),
        (
            "jobs",
            State.OK,
            {"seen": {"jobs": JOBS}, "live": frozenset({"JOB1-a"})},
            ["runs here"],
        ),
        (
            "jobs",
            State.WARN,
            {"seen": {"jobs": JOBS}},
            ["12 python train.py; 13 python -m paddle", "`ssh root@10.0.0.1 kill 12 13`"],
        ),
        ("clock", State.OK, {"clock_s": (2.0, 2.1)}, ["2.0 s ahead of this machine's"]),
        ("clock", State.WARN, {"clock_s": (-700.0, -600.0)}, ["10 minutes behind this", "timedatectl"]),
        ("clock", State.WARN, {"clock_s": (1e6, 1e6)}, ["277.8 hours ahead of", "timedatectl"]),
        ("clock", State.FAIL, {"clock_s": (-1e5, -9e4)}, ["25.0 hours behind", "certificates", "--tls=off"]),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(
    what: str, state: State, how: dict[str, Any], words: list[str]
) -> None:
    found = [one for one in judged(**how) if one.what == what]
    assert [one.state for one in found] == [state]
    for word in words:
        assert word in found[0].text


def test_a_clock_is_that_of_this_machine_where_it_may_be() -> None:
    (clock,) = [one for one in judged(clock_s=(-3.0, 200.0)) if one.what == "clock"]
    assert (clock.state, clock.text) == (State.OK, "that of this machine")


def test_a_clock_a_day_behind_is_a_warning_where_nothing_is_encrypted() -> None:
    *_, clock = of_node(visit(clock_s=(-1e5, -9e4)), encrypts=False)
    assert clock.state is State.WARN


def test_one_machine_under_two_names_is_told_once_and_its_ports_not_at_all() -> None:
    visits = {0: visit(0), 1: visit(1, seen={"network": "boot net:[2]"}), 2: visit(2, name="n9")}
    (finding,) = of_all(visits)
    assert (finding.node, finding.what, finding.state) == (None, "hosts", State.FAIL)
    assert "nodes 0, 2 are one machine, n1" in finding.text
    assert twins(visits) == [0, 2]
    held = visit(seen={"ports": [HELD]})
    assert "ports" not in [one.what for one in of_node(held, encrypts=True, is_twin=True)]


def test_local_nodes_are_one_machine_and_meant_to_be() -> None:
    assert list(of_all({node: visit(node, is_local=True) for node in range(3)})) == []


def test_versions_that_differ_are_told() -> None:
    other = {"packages": {**FACTS.packages, "numpy": "2.0"}}
    visits = {0: visit(0), 1: visit(1, seen={"network": "other"}, facts=other)}
    (finding,) = of_all(visits)
    assert (finding.node, finding.state) == (None, State.WARN)
    assert "1.26.1 on node 0; 2.0 on node 1" in finding.text


def test_no_command_that_is_advised_is_of_a_nodes_making() -> None:
    said = json.loads(msgspec.json.encode(SEEN))
    said["jobs"] = {"JOB1": {"1; touch x": "y"}}
    with pytest.raises(NodeUnfit, match="not understood"):
        understood(said, Seen)
    ill = judged(
        facts={"ground": "/srv; touch x", "free_files": 9, "python": "x; touch y"}, seen={"paddle": "z"}
    )
    said_to_type = [command for one in ill for command in re.findall(r"`([^`]*)`", one.text)]
    assert "df -i '/srv; touch x'" in said_to_type
    assert [command for command in said_to_type if "touch" in shlex.split(command)] == []
