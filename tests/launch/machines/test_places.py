"""Which nodes have a parameter server and which a trainer, as conf.py or flags say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.errors import SettingsError
from paddle._launch.machines.places import Places, places
from paddle._launch.settings import settle

MACHINES = ("root@n1", "me@n2:2222", "root@10.0.0.3")
LOCAL = ("local", "local", "local")


def test_every_node_has_both_where_nothing_else_is_said() -> None:
    assert places(LOCAL, None, None) == Places((0, 1, 2), (0, 1, 2))


@pytest.mark.parametrize(
    ("names", "nodes"),
    [
        (["root@n1"], (0,)),
        (["n2", "root@10.0.0.3"], (1, 2)),
        (["2", "0"], (2, 0)),
        (["me@n2:2222", "n1"], (1, 0)),
    ],
)
def test_nodes_are_named_as_hosts_does_by_the_machine_alone_or_by_number_and_their_order_counts(
    names: list[str], nodes: tuple[int, ...]
) -> None:
    assert places(MACHINES, names, None).pservers == nodes
    assert places(MACHINES, None, names).trainers == nodes


@pytest.mark.parametrize(
    ("pservers", "trainers", "words"),
    [
        (
            ["n9"],
            None,
            r"PSERVER_HOSTS: 'n9' is not a node of HOSTS \(root@n1, me@n2:2222, root@10.0.0.3\). Name",
        ),
        (None, ["3"], r"TRAINER_HOSTS: '3' is not a node of HOSTS .* 0 to 2\.$"),
        ([], None, "PSERVER_HOSTS names no node. Give at least one, or leave it out"),
        (
            None,
            ["n1", "0"],
            r"TRAINER_HOSTS names node 0 \(root@n1\) twice: .* threads where --trainer_count",
        ),
        (["1", "me@n2:2222"], None, r"PSERVER_HOSTS names node 1 \(me@n2:2222\) twice: .* PADDLE_PORTS_NUM"),
        (["0"], ["1"], r"node 2 \(root@10.0.0.3\) of HOSTS has neither .* nor a trainer"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    pservers: list[str] | None, trainers: list[str] | None, words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        places(MACHINES, pservers, trainers)


def test_a_name_that_several_nodes_have_is_told_to_be_a_number() -> None:
    with pytest.raises(SettingsError, match="'local' is each of nodes 0, 1, 2 of HOSTS"):
        places(LOCAL, ["local"], None)
    assert places(("local",), ["local"], None).pservers == (0,)


numbers = st.none() | st.lists(st.integers(0, 4).map(str), max_size=6)


@given(numbers, numbers)
def test_whatever_is_named_every_node_has_something_to_do_and_no_kind_twice(
    pservers: list[str] | None, trainers: list[str] | None
) -> None:
    hosts = ("local",) * 4
    try:
        found = places(hosts, pservers, trainers)
    except SettingsError:
        return
    assert {*found.pservers, *found.trainers} == set(range(4))
    for nodes, names in ((found.pservers, pservers), (found.trainers, trainers)):
        assert len(set(nodes)) == len(nodes) >= 1
        assert names is None or list(nodes) == [int(name) for name in names]


def test_conf_names_them_and_a_flag_wins(tmp_path: Path) -> None:
    conf = tmp_path / "conf.py"
    conf.write_text("HOSTS = ['local', 'local', 'local']\n")
    assert settle(conf, {}, {}).places == Places((0, 1, 2), (0, 1, 2))
    with conf.open("a") as file:
        file.write("PSERVER_HOSTS = [0]\nTRAINER_HOSTS = [2, 1]\n")
    assert settle(conf, {}, {}).places == Places((0,), (2, 1))
    assert settle(conf, {}, {"pserver_hosts": ("1", "0")}).places == Places((1, 0), (2, 1))
    with pytest.raises(SettingsError, match=r"^TRAINER_HOSTS in conf.py: 'x' is not a node"):
        conf.write_text("HOSTS = ['local', 'local']\nTRAINER_HOSTS = ['x']\n")
        settle(conf, {}, {})
    with pytest.raises(SettingsError, match=r"^TRAINER_HOSTS in conf.py names no node"):
        conf.write_text("HOSTS = ['local', 'local']\nTRAINER_HOSTS = []\n")
        settle(conf, {}, {})
    with pytest.raises(SettingsError, match=r"^--pserver_hosts names no node"):
        settle(conf, {}, {"pserver_hosts": (), "trainer_hosts": ("0",)})
