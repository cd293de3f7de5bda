"""The launch's state machine, in which whole jobs begin again: its rules 13 and 14."""

from __future__ import annotations

import signal
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch.actions import BeginAgain, Foretell, Kill, StartRole, Step, Stop, Tell
from paddle._launch.again.lives import Lives
from paddle._launch.again.restarts import Restarts
from paddle._launch.events import (
    Answered,
    Barred,
    Heard,
    NodeEnded,
    NodeFailed,
    RoleExited,
    RoleJoined,
    RoleReady,
    Signalled,
    StopAsked,
    Tick,
)
from paddle._launch.phases import Phase
from paddle._launch.supervisor import Supervisor
from tests.launch.test_supervisor import NODES, PREPARATION, PSERVERS, ROLES, TRAINERS

KILLED = -signal.SIGKILL
STOPS = [Stop(0, 2.0), Stop(1, 2.0)]
REACHES = [Step(0, Phase.REACH), Step(1, Phase.REACH)]


def begun(most: int = 2, *, keeps: bool = True, min_trainers: int = 0) -> Supervisor:
    restarts, lives = Restarts(most, keeps_snapshots=keeps), Lives(most, keeps_snapshots=keeps)
    supervisor = Supervisor(
        NODES, PSERVERS, TRAINERS, restarts=restarts, min_trainers=min_trainers, lives=lives
    )
    supervisor.begin(0.0)
    return supervisor


def trains(supervisor: Supervisor, now: float) -> None:
    """From REACH on all goes well."""
    for event in [
        *(Answered(node, step) for step in PREPARATION for node in NODES),
        *(RoleReady(role) for role in PSERVERS),
        RoleJoined("pserver-0"),
    ]:
        supervisor.handle(event, now)
    assert supervisor.phase is Phase.TRAIN


def training(most: int = 2, *, keeps: bool = True, min_trainers: int = 0) -> Supervisor:
    supervisor = begun(most, keeps=keeps, min_trainers=min_trainers)
    trains(supervisor, 1.0)
    return supervisor


def killed_in_the_midst(supervisor: Supervisor, now: float, role: str = "trainer-1") -> list[object]:
    supervisor.handle(Barred("pserver-0", "dense", (role,)), now)
    return list(supervisor.handle(RoleExited(role, KILLED), now))


def rested(supervisor: Supervisor, now: float) -> list[object]:
    """What follows once all nodes have ended, and the pause."""
    for node in NODES:
        assert supervisor.handle(NodeEnded(node), now) == []
    return list(supervisor.handle(Tick(), now + 8.0))


def test_a_trainer_whose_place_nobody_can_take_has_the_whole_job_begin_again() -> None:
    supervisor = training()
    foretold, *stops = killed_in_the_midst(supervisor, 2.0)
    assert isinstance(foretold, Tell)
    assert foretold.text.startswith("its process was killed by SIGKILL; the whole job begins again in 1 s, ")
    assert (stops, supervisor.phase) == (STOPS, Phase.REST)
    for role in ROLES:
        assert supervisor.handle(RoleExited(role, -signal.SIGTERM), 2.1) == []
    assert supervisor.handle(NodeEnded(0), 2.2) == []
    assert supervisor.handle(NodeEnded(1), 2.3) == []
    assert supervisor.handle(Tick(), 2.9) == []
    assert supervisor.handle(Tick(), 3.0) == [BeginAgain(2), *REACHES]
    trains(supervisor, 4.0)
    for role in ROLES:
        supervisor.handle(RoleExited(role, 0), 5.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 0)


def test_the_third_death_fails_the_job_with_its_status_and_says_what_was_tried() -> None:
    supervisor, now = training(), 2.0
    for life in (2, 3):
        killed_in_the_midst(supervisor, now)
        assert rested(supervisor, now)[0] == BeginAgain(life)
        trains(supervisor, now := now + 10.0)
    assert killed_in_the_midst(supervisor, now)[-2:] == STOPS
    assert supervisor.cause
    assert (supervisor.cause.role, supervisor.exit_status) == ("trainer-1", 137)
    assert supervisor.cause.detail == (
        "it had been started again 2 times (--max_restart=2), after it was killed by SIGKILL"
    )


def test_the_budget_is_the_jobs_whoever_dies() -> None:
    supervisor, now = training(most=1), 2.0
    killed_in_the_midst(supervisor, now, "trainer-0")
    rested(supervisor, now)
    trains(supervisor, 12.0)
    assert killed_in_the_midst(supervisor, 12.0, "trainer-1")[-2:] == STOPS
    assert supervisor.cause
    assert supervisor.cause.detail == (
        "the whole job had begun again once (--max_restart=1), the last time as trainer-0 was killed by "
        "SIGKILL"
    )


def test_who_ends_with_a_status_or_without_snapshots_or_before_any_step_ends_the_job() -> None:
    supervisor = training()
    assert supervisor.handle(RoleExited("trainer-1", 7), 2.0) == []
    assert supervisor.phase is Phase.SETTLE
    supervisor = training(keeps=False)
    assert killed_in_the_midst(supervisor, 2.0)[-2:] == STOPS
    assert supervisor.phase is Phase.STOP
    supervisor = begun()
    for event in [*(Answered(n, s) for s in PREPARATION for n in NODES), *map(RoleReady, PSERVERS)]:
        supervisor.handle(event, 1.0)
    assert supervisor.handle(NodeEnded(1), 2.0) == [Stop(0, 2.0)]
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 1)


def test_where_fewer_trainers_may_go_on_they_do() -> None:
    supervisor = training(min_trainers=1)
    told, *_ = killed_in_the_midst(supervisor, 2.0)
    assert isinstance(told, Tell)
    assert supervisor.phase is Phase.TRAIN


def test_a_node_that_is_lost_is_asked_until_it_answers_and_takes_part_again() -> None:
    supervisor = training()
    supervisor.handle(Heard(0), 16.5)
    told, *stops = supervisor.handle(Tick(), 16.6)
    assert told.text.startswith("nothing was heard from it for 16 s; the whole job begins again in 1 s, ")
    assert (told.role, stops) == ("node 1", STOPS)
    supervisor.handle(NodeEnded(0), 17.0)
    assert supervisor.handle(Tick(), 19.7) == [Kill(1)]
    assert supervisor.handle(Tick(), 19.9) == []
    assert supervisor.handle(Tick(), 21.2) == [BeginAgain(2), *REACHES]
    supervisor.handle(Answered(0, Phase.REACH), 22.0)
    told = Tell("node 1", "it is off; it is asked again")
    assert supervisor.handle(NodeFailed(1, "it is off."), 22.0) == [told]
    assert supervisor.handle(Tick(), 22.9) == []
    assert supervisor.handle(Tick(), 23.0) == [Step(1, Phase.REACH)]
    assert supervisor.handle(Answered(1, Phase.REACH), 23.1) == [Step(n, Phase.DELIVER) for n in NODES]


def test_a_node_that_does_not_come_back_fails_the_job_and_is_named() -> None:
    supervisor = training()
    supervisor.handle(NodeEnded(1, "its connection broke"), 2.0)
    supervisor.handle(NodeEnded(0), 2.9)
    assert supervisor.handle(Tick(), 3.1) == [BeginAgain(2), *REACHES]
    supervisor.handle(Answered(0, Phase.REACH), 4.0)
    supervisor.handle(NodeFailed(1, "it is off."), 60.0)
    assert supervisor.handle(Tick(), 63.2) == STOPS
    assert supervisor.cause
    assert (supervisor.cause.node, supervisor.exit_status, supervisor.unfit) == (1, 1, {})
    assert supervisor.cause.text == (
        "its agent ended unasked: its connection broke, and it did not answer within 60 s: it is off."
    )


def test_a_node_that_is_lost_again_before_it_trains_is_one_more_life() -> None:
    supervisor = training()
    supervisor.handle(NodeEnded(1), 2.0)
    supervisor.handle(NodeEnded(0), 3.0)
    supervisor.handle(Tick(), 3.1)
    for step in PREPARATION:
        for node in NODES:
            supervisor.handle(Answered(node, step), 4.0)
    assert supervisor.phase is Phase.SERVE
    told, *_ = supervisor.handle(NodeEnded(1), 5.0)
    assert "for the last time" in told.text
    supervisor.handle(NodeEnded(0), 5.1)
    assert supervisor.handle(Tick(), 7.0)[0] == BeginAgain(3)
    trains(supervisor, 8.0)
    supervisor.handle(NodeEnded(0), 9.0)
    assert supervisor.cause
    assert supervisor.cause.text.endswith(
        "; the whole job had begun again 2 times (--max_restart=2), the last time as node 1 was lost"
    )


def test_who_asks_that_it_be_stopped_is_obeyed_also_between_two_lives() -> None:
    for asked, status in ((Signalled(signal.SIGINT), 130), (StopAsked(), 143)):
        supervisor = training()
        killed_in_the_midst(supervisor, 2.0)
        supervisor.handle(NodeEnded(0), 2.1)
        assert supervisor.handle(asked, 2.2) == [Stop(1, 2.0)]
        supervisor.handle(NodeEnded(1), 2.3)
        assert (supervisor.phase, supervisor.exit_status) == (Phase.COLLECT, status)


events = st.one_of(
    st.builds(RoleExited, st.sampled_from(sorted(ROLES)), st.sampled_from([0, 1, KILLED, KILLED, KILLED])),
    st.builds(Barred, st.sampled_from(sorted(PSERVERS)), st.just("dense"), st.just(tuple(sorted(TRAINERS)))),
    st.builds(NodeEnded, st.sampled_from(NODES)),
    st.builds(NodeFailed, st.sampled_from(NODES), st.just("it says so")),
    st.builds(Answered, st.sampled_from(NODES), st.sampled_from(PREPARATION)),
    *[st.builds(RoleReady, st.sampled_from(sorted(PSERVERS)))] * 2,
    st.just(Signalled(signal.SIGTERM)),
    st.just("all that is asked for is done"),
    *[st.just(Tick())] * 3,
)


class Nodes:
    """What really goes on: agents and roles, by what the supervisor asked for."""

    def __init__(self, supervisor: Supervisor, most: int) -> None:
        self.supervisor, self.most = supervisor, most
        self.lives = 1
        self.agents: set[int] = set()
        self.running: set[str] = set()
        self.asked: list[Step] = [*REACHES]
        self.used: Counter[str] = Counter()
        self.foretold: set[str] = set()

    def can_be(self, event: object) -> bool:
        """Only what runs ends, only what was asked for is answered."""
        match event:
            case RoleExited(role) | RoleReady(role):
                return role in self.running
            case NodeEnded(node):
                return node in self.agents
            case Answered(node, phase):
                return Step(node, phase) in self.asked
            case NodeFailed(node):
                return node in self.agents or Step(node, Phase.REACH) in self.asked
        return True

    def take(self, event: object, now: float) -> None:
        match event:
            case RoleExited(role):
                self.running.discard(role)
            case NodeEnded(node):
                self.end(node)
            case Answered(node, phase):
                self.asked.remove(Step(node, phase))
                self.agents |= {node} if phase is Phase.OPEN else set()
            case NodeFailed(node) if Step(node, Phase.REACH) in self.asked:
                self.asked.remove(Step(node, Phase.REACH))
        for action in self.supervisor.handle(event, now):
            self.do(action)

    def end(self, node: int) -> None:
        self.agents.discard(node)
        self.running -= {role for role, place in ROLES.items() if place == node}

    def do(self, action: object) -> None:
        match action:
            case Step(_, phase):
                assert self.supervisor.phase <= phase
                self.asked.append(action)
            case StartRole(role):
                assert role not in self.running, "two copies"
                assert ROLES[role] in self.agents, "there is nobody to start it"
                self.running.add(role)
                self.used[role] += role in self.foretold
                self.foretold.discard(role)
                assert self.used[role] <= self.most
            case Foretell(role):
                self.foretold.add(role)
            case BeginAgain(life):
                self.lives += 1
                assert (life, self.lives <= self.most + 1) == (self.lives, True)
                for node in NODES:
                    self.end(node)  # what could not be ended is a matter of leases and locks
                self.asked = []
                self.foretold.clear()


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 3), st.lists(st.tuples(events, st.floats(0, 3)), max_size=60))
def test_whatever_happens_there_are_never_two_of_a_role_nor_more_lives_than_allowed(
    most: int, story: list[tuple[object, float]]
) -> None:
    supervisor = begun(most)
    nodes, now = Nodes(supervisor, most), 0.0
    goes_well = "all that is asked for is done"
    for told, passed in [(goes_well, 0.1), *story, *[(Tick(), 61.0)] * 4]:
        now += passed
        if told == goes_well:
            answers = [Answered(node, step) for step in PREPARATION for node in NODES]
            joined = [*map(RoleReady, sorted(PSERVERS)), RoleJoined("pserver-0")]
            happening: list[object] = [*answers, *joined]
        else:
            happening = [told]
        for event in happening:
            if nodes.can_be(event):
                nodes.take(event, now)
        if supervisor.phase < Phase.STOP:
            assert supervisor.cause is None
    if supervisor.cause is None:
        assert supervisor.phase < Phase.STOP or nodes.running == set() or supervisor.exit_status == 0
    else:
        assert supervisor.phase >= Phase.STOP
