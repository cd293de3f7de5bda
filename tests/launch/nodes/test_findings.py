"""Findings are a line each, for eyes and for grep, and no byte of a node is obeyed."""

from __future__ import annotations

import pytest

from paddle._launch.nodes.findings import Finding, State, Table, numbers, summary

FOUND = [
    Finding(0, "ssh", State.OK, "there"),
    Finding(0, "disk", State.WARN, "little room. Make some."),
    Finding(1, "ssh", State.FAIL, "no way. Build one."),
    Finding(None, "conf", State.FAIL, "wrong. Mend it."),
    Finding(0, "clock", State.OK, "right"),
]


def table(
    nodes: int, width: int | None = None, *, is_coloured: bool = False, whole: bool = False
) -> list[str]:
    names = [f"root@n{node}" for node in range(nodes)]
    return list(Table(names, width=width, is_coloured=is_coloured, whole=whole).lines(FOUND))


def test_each_is_a_line_by_nodes_the_launch_itself_first() -> None:
    assert table(2) == [
        "launch          FAIL  conf      wrong. Mend it.",
        "node 0 root@n0  ok    ssh       there",
        "node 0 root@n0  warn  disk      little room. Make some.",
        "node 0 root@n0  ok    clock     right",
        "node 1 root@n1  FAIL  ssh       no way. Build one.",
    ]


def test_on_many_nodes_what_is_the_same_is_said_once() -> None:
    assert table(5) == [
        "launch          FAIL  conf      wrong. Mend it.",
        "node 0 root@n0  ok              ssh clock",
        "node 0 root@n0  warn  disk      little room. Make some.",
        "node 1 root@n1  FAIL  ssh       no way. Build one.",
    ]
    assert table(5, whole=True) == table(2)
    same = [Finding(node, "ports", State.FAIL, "held") for node in (0, 1, 2, 5)]
    well = [Finding(node, what, State.OK, f"{node}") for node in range(8) for what in ("ssh", "disk")]
    many = Table([f"n{node}" for node in range(8)], width=None, is_coloured=False, whole=False)
    assert list(many.lines([*same, *well])) == [
        "nodes 0-7     ok              ssh disk",
        "nodes 0-2, 5  FAIL  ports     held",
    ]


def test_nodes_are_counted_in_short() -> None:
    assert numbers([3]) == "3"
    assert numbers([2, 0, 1, 7, 9, 8, 5]) == "0-2, 5, 7-9"


@pytest.mark.parametrize(("width", "broken"), [(77, True), (60, False), (None, False)])
def test_lines_are_broken_for_a_terminal_where_there_is_room(width: int | None, broken: bool) -> None:
    text = "a word " * 10
    found = [Finding(0, "disk", State.WARN, text)]
    lines = list(Table(["root@n0"], width=width, is_coloured=False, whole=True).lines(found))
    assert (len(lines) == 2) == broken
    assert " ".join(" ".join(lines).split()).endswith(text.strip())
    if broken:
        assert max(map(len, lines)) <= 77


def test_only_the_state_is_coloured() -> None:
    assert table(2, is_coloured=True)[0] == "launch        \x1b[31m  FAIL  \x1b[0mconf      wrong. Mend it."


def test_what_a_node_says_is_not_obeyed_by_a_terminal() -> None:
    found = [Finding(0, "ports", State.FAIL, "held by \x1b[2Jx\x07")]
    (line,) = Table(["n0"], width=None, is_coloured=False, whole=True).lines(found)
    assert line.endswith("held by x\\x07")


def test_the_last_line_counts() -> None:
    assert summary(FOUND, 2) == "no job can be launched until these are fixed: 2 FAIL, on 1 of 2 nodes"
    assert summary(FOUND[:2], 2) == "a job can be launched on these 2 nodes; 1 to be looked at"
    assert summary(FOUND[:1], 1) == "a job can be launched on this node"
