"""The launch's state machine, asked from elsewhere to stop: its rule 10."""

from __future__ import annotations

from paddle._launch.actions import Kill, Stop
from paddle._launch.events import NodeEnded, StopAsked, Tick
from paddle._launch.phases import Phase
from tests.launch.test_supervisor import led_to


def test_who_asks_that_it_be_stopped_is_obeyed_as_term_is_with_the_grace_asked_for() -> None:
    supervisor = led_to(Phase.TRAIN)
    assert supervisor.handle(StopAsked(30.0, by="fab stop"), 2.0) == [Stop(0, 30.0), Stop(1, 30.0)]
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 143)
    assert supervisor.cause is not None and supervisor.cause.text == "stopped by fab stop"
    assert supervisor.handle(StopAsked(), 3.0) == []  # once is enough
    assert supervisor.handle(Tick(), 32.9) == []
    assert supervisor.handle(Tick(), 33.1) == [Kill(0), Kill(1)]


def test_who_asks_to_kill_is_obeyed_at_once_and_never_costs_what_is_collected() -> None:
    supervisor = led_to(Phase.TRAIN)
    stopped = [Stop(0, 2.0), Stop(1, 2.0), Kill(0), Kill(1)]
    assert supervisor.handle(StopAsked(is_killing=True), 2.0) == stopped
    for node in (0, 1):
        supervisor.handle(NodeEnded(node), 2.5)
    assert supervisor.phase is Phase.COLLECT
    assert supervisor.handle(StopAsked(is_killing=True), 3.0) == []
    assert supervisor.phase is Phase.COLLECT


def test_a_stop_that_lasts_can_be_hastened() -> None:
    supervisor = led_to(Phase.SERVE)
    supervisor.handle(StopAsked(600.0), 2.0)
    assert supervisor.handle(StopAsked(is_killing=True), 3.0) == [Kill(0), Kill(1)]
