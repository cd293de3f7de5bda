"""Whether a node will do is judged by what it says of itself, and what it lacks is named with what to do."""

from pathlib import Path

import msgspec
import pytest

from paddle._launch.errors import NodeUnfit
from paddle._launch.machines import fitness
from paddle._launch.machines.said import understood
from tests.fresh import ROOT

FIT = fitness.Facts(
    python="/usr/bin/python3",
    version=(3, 11, 2),
    packages={name: f"{least}.1" for name, least in fitness.PACKAGES.items()},
    is_there=False,
    has_program=False,
    has_runtime=False,
    ground="/srv",
    is_writable=True,
    free=1000,
    free_files=10,
    devices={"lo": "127.0.0.1", "eth0": "10.0.0.1", "eth1": "10.1.0.1"},
    addresses={"n1": ["10.0.0.1"], "n2": ["10.0.0.2"]},
)
WANTED = fitness.Wanted(
    workspace=Path("/srv/JOB1"),
    size=1000,
    count=10,
    address="n1",
    others=("n2",),
    nics=("eth0",),
    runtime=Path("/srv/.paddle/runtime-1"),
)


def changed(value: msgspec.Struct, **how: object) -> object:
    return msgspec.structs.replace(value, **how)


def test_one_that_has_all_will_do() -> None:
    fitness.check(FIT, WANTED)
    fitness.check(changed(FIT, has_runtime=True), changed(WANTED, more=(1, 1)))


def test_a_disk_that_does_not_say_how_many_files_it_can_take_is_believed() -> None:
    fitness.check(changed(FIT, free_files=None, free=None), WANTED)


def test_one_whose_workspace_is_there_will_do_for_a_deployed_one() -> None:
    fitness.check(changed(FIT, is_there=True, has_program=True, free=0), changed(WANTED, size=None))


def test_what_it_says_is_read_back() -> None:
    assert understood(msgspec.to_builtins(FIT), fitness.Facts) == FIT


@pytest.mark.parametrize(
    "how",
    [
        {"python": 1},
        {"python": "python3"},
        {"free": 10**400},
        {"packages": {"numpy": "1" * 5000}},
        {"version": [10**30, 11, 2]},
        {"devices": []},
    ],
)
def test_what_is_no_answer_is_told(how: dict[str, object]) -> None:
    with pytest.raises(NodeUnfit, match="not understood"):
        understood({**msgspec.to_builtins(FIT), **how}, fitness.Facts)


@pytest.mark.parametrize(
    ("facts", "wanted", "words"),
    [
        (
            {"packages": {**FIT.packages, "numba": None}},
            {},
            ["lacks numba>=0.60.", "`fab install` brings them"],
        ),
        ({"packages": {**FIT.packages, "numpy": "1.9.3"}}, {}, ["numpy>=1.26 (has 1.9.3)", "NODE_PYTHON"]),
        ({"is_there": True}, {}, ["/srv/JOB1 exists already"]),
        ({"is_writable": False}, {}, ["/srv is not a folder that its user can write to", "ROOT_DIR"]),
        ({"free": 999}, {}, ["needs 1,000 bytes, /srv has 999 left"]),
        ({"has_runtime": False}, {"more": (1, 0)}, ["needs 1,001 bytes, /srv has 1,000 left"]),
        ({"has_runtime": False}, {"more": (0, 1)}, ["11 files and folders"]),
        (
            {"free_files": 9},
            {},
            ["10 files and folders", "can take 9 more", "`df -i /srv`", "--root_dir=DIR"],
        ),
        ({}, {"size": None}, ["there is no /srv/JOB1", "--job_dispatch_package sends one"]),
        ({"is_there": True}, {"size": None}, ["/srv/JOB1 has no train.py"]),
        ({}, {"nics": ("ib0",)}, ["no network device 'ib0'", "eth0 (10.0.0.1)", "PADDLE_NIC"]),
        ({"addresses": {"n1": ["10.0.0.1"]}}, {}, ["would not find n2", "write addresses in HOSTS"]),
        ({}, {"nics": ("eth1",)}, ["would not be heard", "n1 (10.0.0.1)", "eth1 has 10.1.0.1"]),
    ],
)
def test_what_it_lacks_is_named_with_what_to_do(facts: dict, wanted: dict, words: list[str]) -> None:
    with pytest.raises(NodeUnfit) as caught:
        fitness.check(changed(FIT, **facts), changed(WANTED, **wanted))
    for word in words:
        assert word in str(caught.value)


def test_a_disk_that_does_not_say_how_much_room_it_has_is_tried() -> None:
    fitness.check(changed(FIT, free=None), WANTED)


def test_the_packages_are_those_of_the_project_but_for_what_only_launchers_and_programs_need() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = dict(line.partition(",")[0].split(">=") for line in project["dependencies"])
    for name in ("fabric", "invoke", "packaging", "pathspec", "pyyaml", "rich", "six"):
        del declared[name]
    assert declared == fitness.PACKAGES


def test_a_workspace_that_an_agent_of_an_earlier_life_has_is_waited_for() -> None:
    wanted = changed(WANTED, size=None, is_again=True)
    assert fitness.order(wanted)["is_again"]
    there = changed(FIT, is_there=True, has_program=True)
    fitness.check(there, wanted)
    with pytest.raises(NodeUnfit, match="the agent that it had before still has /srv/JOB1: it ends by its"):
        fitness.check(changed(there, is_held=True), wanted)
