"""Which roles are started again, how often and when: the rules one by one."""

from __future__ import annotations

import pytest

from paddle._launch.again.restarts import Restarts
from paddle._launch.events import Barred, ShardRestarted

KILLED = -9


def restarts(most: int = 2) -> Restarts:
    return Restarts(most, keeps_snapshots=True, first_pause_s=1.0, longest_pause_s=3.0)


def test_a_role_that_was_killed_is_due_after_a_pause_that_grows_to_a_limit() -> None:
    again, now = restarts(most=9), 10.0
    for pause in (1.0, 2.0, 3.0, 3.0):
        assert again.why_not("trainer-0", KILLED, is_pserver=False) is None
        again.take("trainer-0", KILLED, now)
        assert again.due(now + pause - 0.01) == []
        assert again.due(now + pause) == ["trainer-0"]
        assert again.due(now + 100.0) == []
        now += 100.0


def test_it_is_said_how_it_ended_when_it_comes_back_and_how_often_it_still_may() -> None:
    again = restarts()
    first, second = again.take("pserver-0", KILLED, 0.0), again.take("pserver-0", -11, 5.0)
    assert first == "its process was killed by SIGKILL; it is started again in 1 s, and once more"
    assert second == "its process was killed by SIGSEGV; it is started again in 2 s, for the last time"


def test_the_budget_is_each_roles_own_and_what_used_it_up_is_said() -> None:
    again = restarts()
    for _ in range(2):
        again.take("trainer-0", -11, 0.0)
    text = again.why_not("trainer-0", KILLED, is_pserver=False)
    assert text == "it had been started again 2 times (--max_restart=2), after it was killed by SIGSEGV"
    assert again.why_not("trainer-1", KILLED, is_pserver=False) is None


@pytest.mark.parametrize("status", [1, 2, 7, 98])
def test_who_ends_with_a_status_is_not_started_again(status: int) -> None:
    again = restarts()
    assert again.why_not("trainer-0", status, is_pserver=False) == ""
    again.take("trainer-0", KILLED, 0.0)
    assert again.why_not("trainer-0", status, is_pserver=False) == (
        "it had been started again once (--max_restart=2), after it was killed by SIGKILL"
    )


def test_a_pserver_without_snapshots_has_nothing_to_go_on_from() -> None:
    again = Restarts(2)
    assert "without --snapshot_dir" in (again.why_not("pserver-0", KILLED, is_pserver=True) or "")
    assert again.why_not("trainer-0", KILLED, is_pserver=False) is None


def test_where_it_was_not_asked_for_nothing_is_started_again_and_nothing_said() -> None:
    assert Restarts().why_not("trainer-0", KILLED, is_pserver=False) == ""
    assert Restarts().why_not("pserver-0", KILLED, is_pserver=True) == ""


def test_a_trainer_whose_place_nobody_can_take_is_not_started_again_whenever_that_is_said() -> None:
    again, barred = restarts(), Barred("pserver-1", "dense shard", ("trainer-0",))
    again.take("trainer-0", KILLED, 0.0)
    assert list(again.told(barred)) == [("trainer-0", KILLED)]
    assert again.due(100.0) == []
    assert "half-finished pass" in (again.why_not("trainer-0", KILLED, is_pserver=False) or "")
    assert list(again.told(Barred("pserver-1", "dense shard", ()))) == []  # its connection is whole again
    assert again.why_not("trainer-0", KILLED, is_pserver=False) is None


def test_one_that_has_ended_its_pass_waits_until_others_have_at_all_shards() -> None:
    again = restarts()
    again.take("trainer-0", KILLED, 0.0)
    for shard in ("dense", "sparse"):
        assert list(again.told(Barred("pserver-0", shard, (), ("trainer-0",)))) == []
    assert again.due(10.0) == []
    list(again.told(Barred("pserver-0", "dense", ())))
    assert again.due(20.0) == []
    list(again.told(Barred("pserver-0", "sparse", ())))
    assert again.due(20.0) == ["trainer-0"]


def test_while_a_shard_is_being_started_again_nobody_knows_whose_place_can_be_taken() -> None:
    again = restarts()
    for shard in ("dense", "sparse"):
        list(again.told(Barred("pserver-0", shard, ())))
    list(again.told(Barred("pserver-1", "dense", (), ("trainer-0",))))
    again.take("trainer-0", KILLED, 0.0)
    assert again.why_not("pserver-0", KILLED, is_pserver=True) is None
    again.take("pserver-0", KILLED, 0.0)
    assert again.due(100.0) == ["pserver-0"]
    list(again.told(Barred("pserver-0", "dense", ())))
    list(again.told(Barred("pserver-1", "dense", ())))
    assert again.due(100.0) == []
    list(again.told(Barred("pserver-0", "sparse", ())))
    assert again.due(100.0) == ["trainer-0"]


def test_what_a_shard_said_is_forgotten_with_its_process() -> None:
    again = restarts()
    list(again.told(Barred("pserver-0", "dense", ("trainer-0",))))
    list(again.told(ShardRestarted("pserver-0", "sparse", "killed")))
    assert again.why_not("trainer-0", KILLED, is_pserver=False)
    list(again.told(ShardRestarted("pserver-0", "dense", "killed")))
    assert again.why_not("trainer-0", KILLED, is_pserver=False) is None


def test_one_that_has_said_goodbye_has_nothing_left_to_do_whenever_that_is_said() -> None:
    again, left = restarts(), Barred("pserver-0", "dense", (), (), ("trainer-0",))
    assert not again.why_needless("trainer-0", KILLED)
    again.take("trainer-0", KILLED, 0.0)
    assert list(again.told(left)) == [("trainer-0", KILLED)]
    assert again.due(100.0) == []
    assert "after it had said goodbye" in again.why_needless("trainer-0", KILLED)
    assert not again.why_needless("trainer-0", 7)
    assert not again.why_needless("trainer-1", KILLED)
