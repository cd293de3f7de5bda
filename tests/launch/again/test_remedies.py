"""What makes up for an end: the first remedy that can be, and why none can."""

from __future__ import annotations

from paddle._launch.actions import Foretell, Tell
from paddle._launch.again.lives import Lives
from paddle._launch.again.remedies import Remedies, Remedy
from paddle._launch.again.restarts import Restarts
from paddle._launch.cause import Blame
from paddle._launch.events import RoleMeets
from paddle._launch.phases import Phase

NODES = {"pserver-0": 0, "trainer-0": 0, "trainer-1": 1}


def remedies(most: int, least: int = 0) -> tuple[Remedies, Blame, Lives]:
    """What makes up ``most`` times for an end, of a job whose pservers keep snapshots."""
    blame, lives = Blame(NODES), Lives(most, keeps_snapshots=True)
    restarts = Restarts(most, keeps_snapshots=True)
    found = Remedies(["pserver-0"], ["trainer-0", "trainer-1"], blame, restarts, lives, least)
    return found, blame, lives


def test_a_role_is_started_again_before_the_job_goes_on_without_it_or_begins_again() -> None:
    found, _, lives = remedies(1, least=1)
    lives.has_met = True
    remedy = found.of_role("trainer-1", -9, Phase.TRAIN, {"trainer-1"}, 0.0)
    assert remedy is not None
    assert isinstance(remedy.actions[0], Foretell)
    assert not remedy.ends_role and not remedy.ends_life
    again = found.of_role("trainer-1", -9, Phase.TRAIN, {"trainer-1"}, 1.0)
    assert again is not None
    assert again.ends_role and not again.ends_life


def test_a_trainer_that_has_met_others_has_the_whole_job_begin_again() -> None:
    found, _, lives = remedies(1)
    lives.has_met = True
    assert found.missed(RoleMeets("trainer-1", finds_nobody=False), Phase.TRAIN, set(), 0.0) is None
    remedy = found.of_role("trainer-1", -9, Phase.TRAIN, {"trainer-1"}, 0.0)
    assert remedy is not None
    assert remedy.ends_life
    assert found.begin_again() == 2


def test_of_a_node_that_is_lost_it_is_said_why_the_job_does_not_begin_again() -> None:
    found, _, lives = remedies(1)
    assert found.of_node(1, "it is gone", Phase.TRAIN, 0.0) == "it is gone"  # nobody has trained yet
    lives.has_met = True
    remedy = found.of_node(1, "it is gone", Phase.TRAIN, 0.0)
    assert isinstance(remedy, Remedy)
    assert isinstance(remedy.actions[0], Tell)
    assert remedy.ends_life
    found.begin_again()
    said = found.of_node(1, "it is gone", Phase.TRAIN, 9.0)
    assert isinstance(said, str)
    assert said.startswith("it is gone; the whole job had begun again once (--max_restart=1)")


def test_who_ends_with_a_status_has_said_why() -> None:
    found, blame, lives = remedies(1)
    lives.has_met = True
    assert found.of_role("trainer-0", 3, Phase.TRAIN, {"trainer-0"}, 0.0) is None
    assert blame.noted("trainer-0") == ""
    assert found.serving({"trainer-0"}) == ["pserver-0"]


def test_who_comes_to_meet_others_when_those_have_ended_is_known_once_it_must_have_been_said_after() -> None:
    found, _, _ = remedies(1, least=1)
    looks, ended = RoleMeets("trainer-1", finds_nobody=True), {"trainer-0"}
    assert found.missed(looks, Phase.TRAIN, set(), 0.0) is None, "it may still come"
    assert found.missed(looks, Phase.TRAIN, ended, 9.0) is None, "that was said before, it may be"
    missed = found.missed(looks, Phase.TRAIN, ended, 14.0)
    assert missed is not None
    assert (missed.role, missed.status) == ("trainer-0", 0)
    found.begin_again()
    assert found.missed(looks, Phase.TRAIN, ended, 20.0) is None, "in another life"


def test_who_holds_the_place_and_is_to_be_started_again_is_not_looked_for_in_vain() -> None:
    found, _, _ = remedies(1)
    looks = RoleMeets("trainer-1", finds_nobody=True)
    found.of_role("trainer-0", -9, Phase.TRAIN, {"trainer-0"}, 0.0)
    for now in (1.0, 60.0):
        assert found.missed(looks, Phase.TRAIN, {"trainer-0"}, now) is None


def test_where_the_job_goes_on_without_it_who_looks_in_vain_is_left_to_see_that_by_itself() -> None:
    nodes = {f"trainer-{number}": 0 for number in range(3)}
    found = Remedies([], nodes, Blame(nodes), Restarts(1), Lives(0), 1)
    looks = RoleMeets("trainer-1", finds_nobody=True)
    for now in (1.0, 60.0):
        assert found.missed(looks, Phase.TRAIN, {"trainer-0"}, now) is None
    for now in (61.0, 66.0):
        missed = found.missed(looks, Phase.TRAIN, {"trainer-0", "trainer-2"}, now)
    assert missed is not None


def test_of_who_comes_too_late_it_is_said_too_why_the_whole_job_does_not_begin_again() -> None:
    found, blame, lives = remedies(2)
    for now in (1.0, 2.0):
        lives.take("node 1 was lost", now)
        found.begin_again()
    lives.has_met = True
    assert found.of_killed("trainer-1", -9, Phase.TRAIN, 3.0) is None
    blame.missed("trainer-1", -9, "it was started again")
    cause = blame.cause()
    assert cause is not None
    assert cause.detail.startswith("it was started again; the whole job had begun again 2 times")
