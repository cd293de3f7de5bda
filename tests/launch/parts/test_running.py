"""When one machine's part of a job is over, and with which status."""

from collections.abc import Callable, Iterable
from itertools import count

import pytest

from paddle._launch.actions import TellFallen
from paddle._launch.backends import Post
from paddle._launch.events import (
    Answered,
    Event,
    Heard,
    JobBroke,
    NodeEnded,
    RoleExited,
    RoleJoined,
    RoleMeets,
)
from paddle._launch.news import Printed, Waiting
from paddle._launch.parts.running import Running
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan
from tests.launch.fleet.test_roles import LISTS, planned


class Scripted:
    """A carrier whose agent answers at once; when ``cue`` is started, the script is played."""

    def __init__(self, post: Post, cue: str, script: Iterable[Event | Printed | Waiting]) -> None:
        self._post, self._cue, self._script = post, cue, script
        self.started: list[str] = []
        self.stopped = 0

    def step(self, node: int, phase: Phase) -> None:
        self._post(Answered(node, phase))

    def start(self, role: str) -> None:
        self.started.append(role)
        if role == self._cue:
            for event in self._script:
                self._post(event)

    def tell(self, fallen: TellFallen) -> None: ...

    def stop(self, node: int, grace_s: float) -> None:
        self.stopped += 1
        self._post(NodeEnded(node, "stopped"))

    def kill(self, node: int) -> None:
        self._post(NodeEnded(node, "killed"))  # what it said before is still read

    def hurry(self) -> None: ...
    def close(self) -> str:
        return ""


def run(
    plan: LaunchPlan,
    cue: str,
    *script: Event | Printed | Waiting,
    limits: Limits | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[Running, Scripted, int, list[Phase]]:
    phases: list[Phase] = []
    carriers: list[Scripted] = []

    def carry(_: LaunchPlan, post: Post) -> Scripted:
        carriers.append(Scripted(post, cue, script))
        return carriers[0]

    seconds = count(step=0.1)
    running = Running(plan, carry, phases.append, tell, limits, clock=lambda: next(seconds))
    status = running.run()
    return running, carriers[0], status, phases


def test_servers_are_started_first_and_stopped_when_all_trainers_have_ended() -> None:
    plan = planned("--server_num=1 --worker_num=2")
    ends = RoleExited("trainer-1", 0), RoleExited("trainer-0", 0)
    running, carrier, status, phases = run(plan, "trainer-1", *ends)
    assert carrier.started == ["pserver-0", "trainer-0", "trainer-1"]
    assert (status, running.cause, carrier.stopped) == (0, None, 1)
    assert Phase.FINISH in phases


def test_a_trainer_that_finds_nobody_for_a_while_may_find_others_elsewhere_than_at_the_first_one() -> None:
    looks = [RoleMeets("trainer-1", finds_nobody=True), Heard(0)] * 100
    ends = RoleExited("trainer-0", 0), *looks, RoleExited("trainer-1", 0)
    _, _, status, _ = run(planned("--server_num=1 --worker_num=2"), "trainer-1", *ends)
    assert status == 0


@pytest.mark.parametrize(
    ("culprits", "follows", "is_blamed", "elsewhere"),
    [
        ((), True, False, []),  # it fell because of another, of which this server has not heard
        (("trainer-9",), False, False, ["trainer-9"]),
        (("pserver-9",), False, False, ["pserver-9"]),
        (("trainer-0",), False, True, []),
    ],
)
def test_whether_what_failed_here_follows_from_another_machine(
    culprits, follows, is_blamed, elsewhere
) -> None:
    plan = planned("--server_num=1 --worker_num=2")
    told = JobBroke("pserver-0", culprits, "trainer 0 failed: TrainerLost")
    running, _, status, _ = run(plan, "trainer-1", told, RoleExited("trainer-0", 1))
    assert status == 1
    told_of = running.follows, running.is_blamed, [*running.blamed_elsewhere]
    assert told_of == (follows, is_blamed, elsewhere)


def test_a_server_that_ends_well_before_its_trainers_is_no_failure() -> None:
    plan = planned("--server_num=1 --worker_num=1")
    ends = RoleExited("pserver-0", 0), RoleExited("trainer-0", 0)
    assert run(plan, "trainer-0", *ends)[2] == 0


@pytest.mark.parametrize(("failing", "status"), [("trainer-1", 7), ("pserver-0", 3), ("trainer-0", -9)])
def test_the_status_is_that_of_who_failed_first_and_its_last_lines_are_kept(
    failing: str, status: int
) -> None:
    plan = planned("--server_num=1 --worker_num=2")
    script = Printed(failing, ("it went wrong",)), RoleExited(failing, status)
    running, carrier, got, _ = run(plan, "trainer-1", *script)
    assert got == (status if status > 0 else 128 - status)
    assert running.cause and running.cause.role == failing
    assert running.last_lines(failing) == ("it went wrong",)
    assert carrier.stopped == 1


def test_on_a_machine_of_servers_the_job_lasts_until_they_end() -> None:
    plan = planned(LISTS.replace("10.0.0.2:6171", "10.0.0.3:6171"), POD_IP="10.0.0.2")
    running, carrier, status, _ = run(plan, "pserver-1", RoleExited("pserver-1", 0))
    assert carrier.started == ["pserver-1"]
    assert (status, running.cause) == (0, None)


@pytest.mark.parametrize(("finish_s", "is_waited_for"), [(5.0, False), (float("inf"), True)])
def test_on_one_of_several_machines_servers_outlast_its_own_trainers(
    finish_s: float, is_waited_for: bool
) -> None:
    plan = planned(LISTS, POD_IP="10.0.0.2")
    heard = [Heard(0)] * 100  # while trainers of the other machine go on
    script = RoleJoined("pserver-1"), RoleExited("trainer-1", 0), *heard, RoleExited("pserver-1", 3)
    running, _, status, _ = run(plan, "trainer-1", *script, limits=Limits(finish_s=finish_s))
    assert status == (3 if is_waited_for else 0)
    assert (running.cause is not None) == is_waited_for


def test_whom_servers_miss_is_said_and_again_when_the_time_has_doubled() -> None:
    told: list[str] = []
    news = [Waiting(("trainer-1",), float(seconds)) for seconds in range(2, 45)]
    others = [Waiting(("trainer-0", "trainer-1"), 11.0)]
    ends = RoleExited("trainer-1", 0), RoleExited("trainer-0", 0)
    run(planned("--server_num=1 --worker_num=2"), "trainer-1", *news, *others, *ends, tell=told.append)
    assert told == [
        *(f"servers have waited {seconds} s for trainer-1" for seconds in (10, 20, 40)),
        "servers have waited 11 s for trainer-0, trainer-1",
    ]


def test_a_trainer_that_ended_without_a_goodbye_is_to_blame_once_servers_wait_for_it() -> None:
    script = RoleExited("trainer-1", 0), *[Heard(0)] * 100, Waiting(("trainer-1",), 6.0)
    running, _, status, _ = run(planned("--server_num=1 --worker_num=2"), "trainer-1", *script)
    assert running.cause
    assert (running.cause.role, status) == ("trainer-1", 1)


@pytest.mark.parametrize(("joins", "servers"), [((), 1), ((RoleJoined("pserver-0"),), 0)])
def test_a_server_that_ends_well_before_any_trainer_came_is_said_once(joins, servers) -> None:
    told: list[str] = []
    heard = [Heard(0)] * 300
    script = *joins, RoleExited("pserver-0", 0), *heard, RoleExited("trainer-0", 0)
    running, *_ = run(planned("--server_num=1 --worker_num=1"), "trainer-0", *script, tell=told.append)
    assert running.cause is None
    assert [text.partition(":")[0] for text in told] == [
        "pserver-0 ended with status 0 before any trainer came"
    ] * servers
