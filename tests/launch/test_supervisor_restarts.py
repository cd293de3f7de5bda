"""The launch's state machine, in which roles are started again or spared: its rules 11 and 12."""

from __future__ import annotations

import signal
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch.actions import Action, Foretell, StartRole, Stop, Tell, TellFallen
from paddle._launch.again.lives import Lives
from paddle._launch.again.restarts import Restarts
from paddle._launch.events import (
    Answered,
    Barred,
    Heard,
    JobBroke,
    NodeEnded,
    RoleExited,
    RoleJoined,
    RoleMeets,
    RoleReady,
    ShardRestarted,
    Signalled,
    Tick,
)
from paddle._launch.phases import Phase
from paddle._launch.supervisor import Supervisor
from tests.launch.test_supervisor import NODES, PREPARATION, PSERVERS, ROLES, TRAINERS

KILLED = -signal.SIGKILL


def training(most: int = 2, *, keeps: bool = True, min_trainers: int = 0, lives: int = 0) -> Supervisor:
    restarts = Restarts(most, keeps_snapshots=keeps, first_pause_s=1.0, longest_pause_s=8.0)
    supervisor = Supervisor(
        NODES,
        PSERVERS,
        TRAINERS,
        restarts=restarts,
        min_trainers=min_trainers,
        lives=Lives(lives, keeps_snapshots=True),
    )
    supervisor.begin(0.0)
    for event in [
        *(Answered(node, step) for step in PREPARATION for node in NODES),
        *(RoleReady(role) for role in PSERVERS),
        RoleJoined("pserver-0"),
    ]:
        supervisor.handle(event, 1.0)
    assert supervisor.phase is Phase.TRAIN
    return supervisor


def test_a_role_that_was_killed_is_started_again_and_the_job_ends_well() -> None:
    supervisor = training()
    (foretold,) = supervisor.handle(RoleExited("trainer-1", KILLED), 2.0)
    assert isinstance(foretold, Foretell)
    assert supervisor.handle(Tick(), 2.9) == []
    assert supervisor.handle(Tick(), 3.0) == [StartRole("trainer-1")]
    assert supervisor.handle(Tick(), 3.2) == []
    for role in ROLES:
        supervisor.handle(RoleExited(role, 0), 4.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 0)


def test_one_death_too_many_fails_the_job_with_all_that_is_known_of_it() -> None:
    supervisor, now = training(most=2), 2.0
    for _ in range(2):
        assert supervisor.handle(RoleExited("pserver-1", KILLED), now)
        now += 10.0
        for node in NODES:
            supervisor.handle(Heard(node), now)
        assert supervisor.handle(Tick(), now) == [StartRole("pserver-1")]
    actions = supervisor.handle(RoleExited("pserver-1", KILLED), now)
    text = "pserver-1 was killed by SIGKILL"
    assert actions == [TellFallen("pserver-0", "pserver-1", text), Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.role, supervisor.exit_status) == ("pserver-1", 137)
    assert supervisor.cause.detail.startswith("it had been started again 2 times")


def test_a_job_that_breaks_meanwhile_starts_nothing_again() -> None:
    supervisor = training()
    supervisor.handle(RoleExited("pserver-1", KILLED), 2.0)
    supervisor.handle(JobBroke("pserver-0", (), "trainer 0 failed: ShardUnreachable"), 2.5)
    assert supervisor.phase is Phase.SETTLE
    assert supervisor.handle(Tick(), 6.5) == []
    assert supervisor.handle(Tick(), 7.6)[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]


def test_a_trainer_that_nobody_can_take_the_place_of_fails_the_job_at_once_and_says_why() -> None:
    supervisor = training()
    assert supervisor.handle(RoleExited("trainer-0", KILLED), 2.0)
    actions = supervisor.handle(Barred("pserver-0", "dense shard", ("trainer-0",)), 2.1)
    assert actions[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert "no other process can take over a half-finished pass" in supervisor.cause.detail
    assert supervisor.exit_status == 137


def test_a_trainer_that_is_killed_after_its_goodbye_has_ended_well_in_whatever_order_that_is_heard() -> None:
    left = Barred("pserver-0", "dense shard", (), (), ("trainer-1",))
    killed = RoleExited("trainer-1", KILLED)
    for events in ((left, killed), (killed, left)):
        supervisor = training()
        actions = [action for event in events for action in supervisor.handle(event, 2.0)]
        assert "after it had said goodbye" in next(one.text for one in actions if isinstance(one, Tell))
        assert supervisor.handle(Tick(), 4.0) == []
        supervisor.handle(RoleExited("trainer-0", 0), 4.0)
        assert (supervisor.phase, supervisor.exit_status) == (Phase.FINISH, 0)


def test_a_trainer_is_started_again_once_a_shard_that_is_being_started_again_says_that_it_may() -> None:
    supervisor = training()
    supervisor.handle(Barred("pserver-0", "dense shard", (), ("trainer-1",)), 2.0)
    supervisor.handle(RoleExited("trainer-1", KILLED), 2.0)
    supervisor.handle(ShardRestarted("pserver-0", "dense shard", "it was killed"), 2.5)
    assert supervisor.handle(Tick(), 3.2) == []
    supervisor.handle(Barred("pserver-0", "dense shard", ()), 4.0)
    assert supervisor.handle(Tick(), 4.1) == [StartRole("trainer-1")]


def test_a_trainer_is_spared_while_enough_others_run() -> None:
    supervisor = training(most=0, min_trainers=1)
    text = "trainer-0 ended with status 7"
    assert supervisor.handle(RoleExited("trainer-0", 7), 2.0) == [
        Tell("trainer-0", "ended with status 7; the job goes on without it (--min_trainers=1)"),
        TellFallen("pserver-0", "trainer-0", text, goes_on=True),
        TellFallen("pserver-1", "trainer-0", text, goes_on=True),
    ]
    supervisor.handle(RoleExited("trainer-1", 0), 3.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.FINISH, 0)
    assert supervisor.spared.told == ", but for trainer-0; trainer-0 was to write the model"


def test_trainer_0_at_whom_others_meet_is_told_of_who_was_spared_and_again_when_it_is_started_again() -> None:
    supervisor = training(most=1, min_trainers=1)
    told = TellFallen("trainer-0", "trainer-1", "trainer-1 ended with status 7", goes_on=True)
    assert supervisor.handle(RoleExited("trainer-1", 7), 2.0)[-1] == told
    assert isinstance(supervisor.handle(RoleExited("trainer-0", KILLED), 2.0)[0], Foretell)
    assert supervisor.handle(Tick(), 3.0) == [StartRole("trainer-0"), told]


def test_a_trainer_that_has_met_the_others_is_not_started_again_and_it_is_said_why() -> None:
    for finds_nobody in (True, False):
        supervisor = training(most=2)
        supervisor.handle(RoleMeets("trainer-1", finds_nobody), 2.0)
        (first, *_) = supervisor.handle(RoleExited("trainer-1", KILLED), 2.0)
        assert isinstance(first, Foretell) == finds_nobody
    assert supervisor.cause
    assert "it had met the other workers (fleet.util, fleet.barrier_worker" in supervisor.cause.detail
    assert supervisor.exit_status == 137


def test_a_job_that_goes_on_without_trainer_0_ends_at_once_where_others_are_to_meet_there() -> None:
    seeks = RoleMeets("trainer-1", True)
    supervisor = training(most=0, min_trainers=1)
    assert supervisor.handle(seeks, 2.0) == [], "it may still come"
    supervisor.handle(RoleExited("trainer-0", KILLED), 2.0)
    assert supervisor.phase is Phase.TRAIN
    assert supervisor.handle(RoleMeets("trainer-1", False), 2.0) == []
    assert supervisor.handle(seeks, 3.0)[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.role, supervisor.exit_status) == ("trainer-0", 137)
    assert "trainer-1 is to meet the others there" in supervisor.cause.detail


def restarted_too_late(most: int, lives: int = 0) -> tuple[Supervisor, list[Action]]:
    """A job in which trainer 1 is started again and comes to meet the others when trainer 0 has ended."""
    supervisor, looks = training(most=most, lives=lives), RoleMeets("trainer-1", True)
    supervisor.handle(RoleExited("trainer-1", KILLED), 2.0)
    assert supervisor.handle(Tick(), 3.0) == [StartRole("trainer-1")]
    assert supervisor.handle(RoleExited("trainer-0", 0), 3.5) == []
    assert supervisor.handle(looks, 8.0) == []
    return supervisor, supervisor.handle(looks, 13.0)


def test_a_trainer_that_is_started_again_and_comes_to_meet_those_that_have_ended_ends_the_job_at_once() -> (
    None
):
    supervisor, actions = restarted_too_late(most=1)
    assert actions[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.role, supervisor.exit_status) == ("trainer-1", 137)
    assert "at trainer-0, which had ended by then" in supervisor.cause.detail


def test_where_there_are_snapshots_the_whole_job_begins_again_for_it() -> None:
    supervisor, (told, *_) = restarted_too_late(most=2, lives=2)
    assert supervisor.phase is Phase.REST
    assert isinstance(told, Tell)
    assert told.role == "trainer-1"
    assert "at trainer-0, which had ended by then; the whole job begins again" in told.text


def test_a_trainer_that_comes_to_meet_the_others_for_the_first_time_when_they_have_ended_ends_the_job() -> (
    None
):
    supervisor, looks = training(most=0), RoleMeets("trainer-1", True)
    supervisor.handle(RoleExited("trainer-0", 0), 2.0)
    assert supervisor.handle(looks, 3.0) == []
    assert supervisor.handle(looks, 8.0)[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert supervisor.cause.text == "trainer-0 ended with status 0"
    assert "trainer-1 came to meet the others there" in supervisor.cause.detail
    assert supervisor.exit_status == 1


def test_a_pserver_that_is_started_again_is_told_of_who_was_spared_before() -> None:
    supervisor = training(min_trainers=1)
    supervisor.handle(RoleExited("trainer-0", 7), 2.0)
    supervisor.handle(RoleExited("pserver-1", KILLED), 2.5)
    assert supervisor.handle(Tick(), 4.0) == [StartRole("pserver-1")]
    told = TellFallen("pserver-1", "trainer-0", "trainer-0 ended with status 7", goes_on=True)
    assert supervisor.handle(RoleReady("pserver-1"), 5.0) == [told]


def test_the_last_that_is_needed_is_not_spared_and_who_went_before_is_blamed() -> None:
    supervisor = training(most=0, min_trainers=1)
    supervisor.handle(RoleExited("trainer-0", KILLED), 2.0)
    supervisor.handle(RoleExited("trainer-1", 1), 3.0)
    assert supervisor.phase >= Phase.STOP
    assert supervisor.cause
    assert supervisor.cause.role == "trainer-0"


def test_where_too_few_are_left_the_cause_says_so_and_what_to_do() -> None:
    supervisor = training(most=0, min_trainers=2)
    assert supervisor.handle(RoleExited("trainer-1", KILLED), 2.0)[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.role, supervisor.cause.node, supervisor.exit_status) == ("trainer-1", 1, 137)
    assert supervisor.cause.detail == (
        "fewer trainers are left (1) than --min_trainers=2 says. Begin again with all of them, or with a "
        "smaller --min_trainers"
    )


def test_one_that_was_spared_is_not_why_a_pserver_dies_later_unless_that_is_said() -> None:
    for said, blamed in (((), "pserver-1"), (("trainer-0",), "trainer-0")):
        supervisor = training(most=0, min_trainers=1)
        supervisor.handle(RoleExited("trainer-0", KILLED), 2.0)
        supervisor.handle(JobBroke("pserver-0", said, "gave up"), 3.0) if said else None
        supervisor.handle(RoleExited("pserver-1", KILLED), 3.0)
        supervisor.handle(Tick(), 5.1)
        assert supervisor.cause
        assert (supervisor.cause.role, supervisor.exit_status) == (blamed, 137)
        assert supervisor.cause.detail == ("pserver-0: gave up" if said else ""), "why it was not enough"


def test_one_that_cannot_be_replaced_is_spared_where_that_is_allowed() -> None:
    supervisor = training(min_trainers=1)
    supervisor.handle(RoleExited("trainer-0", KILLED), 2.0)
    told, *others = supervisor.handle(Barred("pserver-1", "dense shard", ("trainer-0",)), 2.1)
    assert isinstance(told, Tell)
    assert [other.hearer for other in others if isinstance(other, TellFallen)] == ["pserver-0", "pserver-1"]
    assert supervisor.phase is Phase.TRAIN


def test_a_pserver_that_is_killed_when_all_trainers_have_ended_is_waited_for() -> None:
    supervisor = training()
    for role in TRAINERS:
        supervisor.handle(RoleExited(role, 0), 2.0)
    assert supervisor.phase is Phase.FINISH
    assert isinstance(supervisor.handle(RoleExited("pserver-0", KILLED), 2.5)[0], Foretell)
    assert supervisor.handle(Tick(), 3.5) == [StartRole("pserver-0")]
    for role in PSERVERS:
        supervisor.handle(RoleExited(role, 0), 4.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 0)


roles = st.sampled_from(sorted(ROLES))
some_trainers = st.lists(st.sampled_from(sorted(TRAINERS)), max_size=2, unique=True).map(tuple)
events = st.one_of(
    st.builds(RoleExited, roles, st.sampled_from([0, 1, KILLED, KILLED, KILLED, -11])),
    st.builds(
        Barred,
        st.sampled_from(sorted(PSERVERS)),
        st.just("dense"),
        some_trainers,
        some_trainers,
        some_trainers,
    ),
    st.builds(ShardRestarted, st.sampled_from(sorted(PSERVERS)), st.just("dense"), st.just("it was killed")),
    st.builds(JobBroke, st.sampled_from(sorted(PSERVERS)), st.just(()), st.just("it broke")),
    st.builds(NodeEnded, st.sampled_from(NODES)),
    st.builds(Signalled, st.just(signal.SIGTERM)),
    st.builds(RoleReady, st.sampled_from(sorted(PSERVERS))),
    *[st.just(Tick())] * 4,
)
stories = st.lists(st.tuples(events, st.floats(0, 3)), max_size=40)


class Job:
    """What really runs, by what the supervisor asked for and the story told."""

    def __init__(self, supervisor: Supervisor, *, keeps: bool) -> None:
        self.supervisor, self.keeps = supervisor, keeps
        self.running, self.over = set(ROLES), set[str]()  # over: for good, and that is no failure
        self.ended_at: dict[str, float] = {}
        self.starts = Counter[str]()
        self.barred: dict[tuple[str, str], Barred | None] = {}  # None: its process is being started again

    def can_be(self, event: object) -> bool:
        """An agent tells an end once, and a pserver nothing after its own."""
        return getattr(event, "pserver", getattr(event, "role", None)) in {None, *self.running}

    def take(self, event: object, now: float) -> None:
        match event:
            case RoleExited(role, status):
                self.running.discard(role)
                self.ended_at[role] = now
                self.over |= set() if status else {role}
                if status:  # of one that has ended well the last word stands
                    self.barred |= dict.fromkeys([place for place in self.barred if place[0] == role])
            case ShardRestarted(pserver, shard):
                self.barred |= dict.fromkeys([place for place in self.barred if place == (pserver, shard)])
            case Barred():
                self.barred[event.pserver, event.shard] = event
        for node in NODES:
            self.supervisor.handle(Heard(node), now)
        for action in self.supervisor.handle(event, now):
            if isinstance(action, StartRole):
                self.start(action.role, now)
            if isinstance(action, Tell):
                self.over.add(action.role)

    def start(self, role: str, now: float) -> None:
        assert role not in self.running, "two copies"
        assert now >= self.ended_at[role] + 2.0 ** self.starts[role]
        for said in self.barred.values() if role in TRAINERS else ():
            assert said is not None
            assert role not in (*said.ever, *said.until_pass_ends, *said.left)
        assert role in TRAINERS or self.keeps
        assert self.supervisor.phase in (Phase.TRAIN, Phase.FINISH)
        self.running.add(role)
        self.starts[role] += 1


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 3), st.booleans(), st.integers(0, 2), stories)
def test_whatever_happens_there_are_never_two_of_a_role_nor_more_starts_than_allowed(
    most: int, keeps: bool, min_trainers: int, story: list[tuple[object, float]]
) -> None:
    job, now = Job(training(most, keeps=keeps, min_trainers=min_trainers), keeps=keeps), 1.0
    for event, passed in story:
        now += passed
        if job.can_be(event):
            job.take(event, now)
    if job.supervisor.phase is Phase.TRAIN and not job.barred:
        job.take(Tick(), now + 100.0)
        assert job.running | job.over == set(ROLES), "who is waited for runs"
    assert max(job.starts.values(), default=0) <= most
