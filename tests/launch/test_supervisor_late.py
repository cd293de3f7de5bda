"""Nodes and pservers that are late: all are named, in the order in which a user counts them."""

from __future__ import annotations

from paddle._launch.events import Answered, Heard, RoleReady, Tick
from paddle._launch.phases import Limits, Phase
from paddle._launch.supervisor import Supervisor
from tests.launch.test_supervisor import PREPARATION, TRAINERS


def test_all_that_are_late_are_named_in_the_order_of_their_numbers() -> None:
    roles = {f"pserver-{node}": node for node in range(12)}
    supervisor = Supervisor(range(12), roles, TRAINERS)
    supervisor.begin(0.0)
    for phase in PREPARATION[:2]:
        for node in range(12):
            supervisor.handle(Answered(node, phase), 1.0)
    for node in {*range(12)} - {2, 10, 11}:
        supervisor.handle(Answered(node, Phase.OPEN), 1.0)
    supervisor.handle(Tick(), 2.0 + Limits().open_s)
    assert supervisor.cause
    text = "it did not answer within 30 s, nor did node 10, 11"
    assert (supervisor.cause.node, supervisor.cause.text) == (2, text)


def test_of_pservers_likewise() -> None:
    roles = {f"pserver-{node}": node for node in range(12)}
    supervisor = Supervisor(range(12), roles, TRAINERS)
    supervisor.begin(0.0)
    for phase in PREPARATION:
        for node in range(12):
            supervisor.handle(Answered(node, phase), 1.0)
    for role in roles.keys() - {"pserver-2", "pserver-10"}:
        supervisor.handle(RoleReady(role), 1.0)
    for node in range(12):
        supervisor.handle(Heard(node), 61.0)
    supervisor.handle(Tick(), 2.0 + Limits().serve_s)
    assert supervisor.cause
    text = "pserver-2 was not ready within 60 s, nor was pserver-10"
    assert (supervisor.cause.role, supervisor.cause.text) == ("pserver-2", text)
