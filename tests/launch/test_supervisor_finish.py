"""The end of a launch whose trainers have all ended well: it waits for pservers, and fails for little."""

from __future__ import annotations

import pytest

from paddle._launch.actions import Stop
from paddle._launch.events import Answered, Heard, NodeEnded, NodeFailed, RoleExited, RoleReady, Tick
from paddle._launch.phases import Limits, Phase
from tests.launch.test_supervisor import NODES, PREPARATION, PSERVERS, TRAINERS, launch, led_to


def test_pservers_that_do_not_end_by_themselves_are_stopped_and_that_is_no_failure() -> None:
    supervisor = led_to(Phase.FINISH)
    assert supervisor.handle(Tick(), 1.0 + Limits().finish_s) == []
    assert supervisor.handle(Tick(), 1.1 + Limits().finish_s) == [Stop(0, 2.0), Stop(1, 2.0)]
    for event in (RoleExited("pserver-0", -15), NodeEnded(0), NodeEnded(1)):
        supervisor.handle(event, 12.0)
    assert supervisor.phase is Phase.COLLECT
    assert supervisor.exit_status == 0


LOST = (NodeEnded(1, "its connection broke"), NodeFailed(1, "OSError: no"), Tick())


@pytest.mark.parametrize("lost", LOST)
def test_a_node_that_is_lost_once_all_trainers_have_ended_well_is_gone_on_without(lost) -> None:
    supervisor = led_to(Phase.FINISH, Limits(finish_s=60.0))
    supervisor.handle(Heard(0), 5.0)
    now = 2.0 if lost != Tick() else 1.1 + Limits().silence_s
    (told,) = supervisor.handle(lost, now)
    assert told.role == "node 1"
    assert told.text.endswith("; all trainers have ended well, so the job goes on without it")
    assert supervisor.handle(Tick(), now + 0.1) == [], "it is told once"
    actions = supervisor.handle(RoleExited("pserver-0", 0), now + 0.2)
    assert actions == [Stop(node, 2.0) for node in NODES if lost != LOST[0] or node == 0]
    supervisor.handle(NodeEnded(0), now + 0.3)
    assert supervisor.exit_status == 0


def test_where_it_is_that_of_the_first_trainer_the_job_fails_for_it_has_the_model() -> None:
    supervisor = led_to(Phase.FINISH)
    assert supervisor.handle(NodeEnded(0, "its connection broke"), 2.0) == [Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.node, supervisor.exit_status) == (0, 1)


def test_a_pserver_may_end_well_before_the_last_trainer_does() -> None:
    supervisor = led_to(Phase.TRAIN)
    for role in (*PSERVERS, *TRAINERS):
        supervisor.handle(RoleExited(role, 0), 1.0)
    assert supervisor.phase is Phase.STOP
    assert supervisor.exit_status == 0


def test_pservers_that_no_trainer_came_to_are_stopped_at_once() -> None:
    supervisor = launch()
    for event in [Answered(node, step) for step in PREPARATION for node in NODES]:
        supervisor.handle(event, 1.0)
    for event in [RoleReady(role) for role in PSERVERS] + [RoleExited("trainer-0", 0)]:
        supervisor.handle(event, 1.0)
    assert supervisor.handle(RoleExited("trainer-1", 0), 1.0) == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.history[-2:] == [Phase.FINISH, Phase.STOP]
    assert supervisor.exit_status == 0
