"""Who is not reached is told once, with who does not reach it and what may keep them apart."""

from __future__ import annotations

from paddle._launch.nodes.findings import Finding, State
from paddle._launch.nodes.reach import of_reach
from paddle._launch.nodes.survey import Dialled
from tests.launch.nodes.visits import visit


def reached(*tries: tuple[int, str, str, str], nodes: int = 3, **how: dict[int, dict]) -> dict[int, Finding]:
    """``tries``: who dialled whom, the state, and the word that was heard or why not."""
    visits = {
        node: visit(
            node,
            name=f"n{node}",
            wanted={"address": f"n{node}", "others": ()},
            asked={"word": f"w{node}"},
            facts={"addresses": {f"n{node}": ["10.0.0.1"]}},
            seen={"network": f"net {node}"} | how.get("seen", {}).get(node, {}),
        )
        for node in range(nodes)
    }
    dialled: dict[int, list[Dialled]] = {node: [] for node in visits}
    for one, other, state, word in tries:
        is_open = state == "open"
        dialled[one].append(Dialled(other, 7164, state, word if is_open else "", "" if is_open else word))
    return {one.node: one for one in of_reach(visits, dialled) if one.node is not None}


def test_who_is_reached_by_all_is_well() -> None:
    found = reached((0, "n1", "open", "w1"), (2, "n1", "open", ""), (1, "n0", "open", "w0"))
    assert {node: (one.state, one.text) for node, one in found.items()} == {
        0: (State.OK, "1 other node reaches it at n0"),
        1: (State.OK, "2 other nodes reach it at n1"),
    }


def test_silence_is_a_firewall_or_no_network() -> None:
    silent = "no answer within 3 s"
    found = reached((0, "n1", "silent", silent), (2, "n1", "silent", silent))
    assert found[1].state is State.FAIL
    assert "not reached by node 0 (n0), node 2 (n2): no answer within 3 s at n1:7164" in found[1].text
    assert "open TCP ports 7164,7165" in found[1].text


def test_a_refusal_is_a_firewall_or_another_machine() -> None:
    found = reached((0, "n1", "closed", "Connection refused"), (2, "n1", "open", "w1"))
    assert "not reached by node 0 (n0): Connection refused at n1:7164, where it listens" in found[1].text
    assert "`getent hosts n1`" in found[1].text


def test_another_word_is_another_machine() -> None:
    found = reached((0, "n1", "open", "w2"))
    assert "n1 means another machine there" in found[1].text


def test_of_many_that_do_not_reach_it_a_few_are_named() -> None:
    found = reached(*((node, "n0", "silent", "no answer") for node in range(1, 9)), nodes=9)
    assert "node 4 (n4) and 4 more: no answer" in found[0].text


def test_one_machine_under_two_names_is_not_judged_here() -> None:
    twin = {"network": "same"}
    found = reached((0, "n1", "open", "w0"), (2, "n1", "open", "w0"), seen={0: twin, 1: twin})
    assert 1 not in found
