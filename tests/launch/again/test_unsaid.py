"""Trainers that end well without a goodbye to pservers, which wait for them."""

from __future__ import annotations

import pytest

from paddle._launch.actions import Stop, Tell, TellFallen
from paddle._launch.events import Missed, RoleExited
from paddle._launch.phases import Phase
from paddle._launch.supervisor import Supervisor
from tests.launch.test_supervisor_restarts import training

TEXT = "trainer-1 ended without a goodbye (status 0)"


def ended(**given: int) -> Supervisor:
    """A job one of whose trainers has ended well, and is missed just then."""
    supervisor = training(**given)
    supervisor.handle(Missed(("trainer-1",)), 1.9)
    supervisor.handle(RoleExited("trainer-1", 0), 2.0)
    assert supervisor.handle(Missed(("trainer-1",)), 6.9) == [], "what was said before may be heard late"
    return supervisor


def test_it_ends_the_job_and_everybody_is_told_who_it_was() -> None:
    supervisor = ended()
    told = [TellFallen(pserver, "trainer-1", TEXT) for pserver in ("pserver-0", "pserver-1")]
    actions = supervisor.handle(Missed(("trainer-0", "trainer-1")), 7.0)
    assert actions == [*told, Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.text, supervisor.exit_status, supervisor.cause.node) == (TEXT, 1, 1)
    assert "os._exit" in supervisor.cause.why
    assert supervisor.handle(Missed(("trainer-1",)), 8.0) == []


def test_with_min_trainers_it_is_spared_once() -> None:
    supervisor = ended(min_trainers=1)
    told, *fallen = supervisor.handle(Missed(("trainer-1",)), 7.0)
    assert isinstance(told, Tell)
    assert "goes on without it" in told.text
    spared = [TellFallen(hearer, "trainer-1", TEXT, goes_on=True) for hearer in ("pserver-0", "pserver-1")]
    assert fallen[:2] == spared
    assert supervisor.handle(Missed(("trainer-1",)), 8.0) == []
    supervisor.handle(RoleExited("trainer-0", 0), 9.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.FINISH, 0)


@pytest.mark.parametrize("missed", ["trainer-0", "trainer-9"])
def test_one_that_has_not_ended_is_only_waited_for(missed: str) -> None:
    supervisor = ended()
    assert supervisor.handle(Missed((missed,)), 60.0) == []
    assert supervisor.phase is Phase.TRAIN
