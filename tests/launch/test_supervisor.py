"""The launch's state machine: its rules one by one, and its guarantees whatever the order of events."""

import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch.actions import Kill, StartRole, Step, Stop, TellFallen
from paddle._launch.events import (
    Answered,
    Heard,
    JobBroke,
    NodeEnded,
    NodeFailed,
    RoleExited,
    RoleJoined,
    RoleReady,
    Signalled,
    StopAsked,
    Tick,
)
from paddle._launch.phases import Limits, Phase
from paddle._launch.supervisor import Supervisor

NODES = (0, 1)
PSERVERS = {"pserver-0": 0, "pserver-1": 1}
TRAINERS = {"trainer-0": 0, "trainer-1": 1}
ROLES = PSERVERS | TRAINERS
PREPARATION = (Phase.REACH, Phase.DELIVER, Phase.OPEN)


def launch(limits: Limits | None = None) -> Supervisor:
    supervisor = Supervisor(NODES, PSERVERS, TRAINERS, limits)
    assert supervisor.begin(0.0) == [Step(0, Phase.REACH), Step(1, Phase.REACH)]
    return supervisor


def led_to(phase: Phase, limits: Limits | None = None) -> Supervisor:
    """A launch that went well until it came to ``phase``."""
    supervisor = launch(limits)
    steps = [Answered(node, step) for step in PREPARATION for node in NODES]
    steps += [RoleReady(role) for role in PSERVERS] + [RoleJoined("pserver-0")]
    steps += [RoleExited(role, 0) for role in TRAINERS]
    steps += [RoleExited(role, 0) for role in PSERVERS] + [NodeEnded(node) for node in NODES]
    steps += [Answered(node, Phase.COLLECT) for node in NODES]
    for event in steps:
        if supervisor.phase is phase:
            break
        supervisor.handle(event, 1.0)
    assert supervisor.phase is phase
    return supervisor


def test_a_launch_that_goes_well_ends_with_0() -> None:
    assert led_to(Phase.END).exit_status == 0


def test_nothing_is_delivered_before_all_nodes_are_reached() -> None:
    supervisor = launch()
    assert supervisor.handle(Answered(1, Phase.REACH), 0.1) == []
    assert supervisor.handle(Answered(1, Phase.REACH), 0.2) == []
    assert supervisor.handle(Answered(0, Phase.REACH), 0.3) == [
        Step(0, Phase.DELIVER),
        Step(1, Phase.DELIVER),
    ]


def test_all_that_is_wrong_with_nodes_is_found_out_before_the_launch_is_given_up() -> None:
    supervisor = Supervisor((0, 1, 2), PSERVERS, TRAINERS)
    supervisor.begin(0.0)
    assert supervisor.handle(NodeFailed(2, "no python"), 0.1) == []
    assert supervisor.handle(NodeFailed(1, "wrong key"), 0.2) == []
    assert supervisor.phase is Phase.REACH
    actions = supervisor.handle(Answered(0, Phase.REACH), 0.3)
    assert {type(action) for action in actions} == {Stop}
    assert (supervisor.cause.node, supervisor.cause.text) == (1, "wrong key")
    assert supervisor.unfit == {2: "no python", 1: "wrong key"}
    assert supervisor.exit_status == 1


def test_a_node_that_never_answers_is_among_those_that_cannot_be_used() -> None:
    supervisor = launch()
    supervisor.handle(NodeFailed(1, "wrong key"), 0.2)
    assert supervisor.handle(Tick(), Limits().reach_s + 1.0)
    assert supervisor.unfit[1] == "wrong key"
    assert "did not answer within 60 s" in supervisor.unfit[0]


def test_a_signal_is_not_kept_waiting_by_nodes_that_do_not_answer() -> None:
    supervisor = launch()
    supervisor.handle(NodeFailed(1, "wrong key"), 0.2)
    supervisor.handle(Signalled(2), 0.3)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 130)


def test_trainers_start_when_all_pservers_are_ready() -> None:
    supervisor = led_to(Phase.SERVE)
    assert supervisor.handle(RoleReady("pserver-1"), 1.0) == []
    assert supervisor.handle(RoleReady("pserver-0"), 1.0) == [StartRole("trainer-0"), StartRole("trainer-1")]


def test_what_broke_first_is_the_cause_where_nobody_says_more() -> None:
    supervisor = led_to(Phase.TRAIN)
    assert supervisor.handle(RoleExited("trainer-1", 7), 2.0) == []
    assert (supervisor.phase, supervisor.cause) == (Phase.SETTLE, None)
    assert supervisor.handle(Tick(), 6.9) == []
    text = "trainer-1 ended with status 7"
    told = [TellFallen(pserver, "trainer-1", text) for pserver in ("pserver-0", "pserver-1")]
    assert supervisor.handle(Tick(), 7.1) == [*told, Stop(0, 2.0), Stop(1, 2.0)]  # in this order
    supervisor.handle(RoleExited("trainer-0", -15), 7.2)
    assert supervisor.exit_status == 7
    assert supervisor.cause
    assert (supervisor.cause.role, supervisor.cause.node) == ("trainer-1", 1)
    assert supervisor.cause.text == text


def blamed(*events: object) -> tuple[str | None, int, Phase]:
    """Whom a launch blames that trained when these happened, its status, and whether it waits for more."""
    supervisor = led_to(Phase.TRAIN)
    for event in events:
        supervisor.handle(event, 2.0)
    phase = supervisor.phase
    supervisor.handle(Tick(), 7.1)
    assert supervisor.cause
    return supervisor.cause.role, supervisor.exit_status, phase


BROKE_BY_1 = [JobBroke(role, ("trainer-1",), "trainer 1 failed") for role in PSERVERS]
FAILED_1, LOST_0 = RoleExited("trainer-1", 7), RoleExited("trainer-0", 1)
ENDED = [RoleExited(role, 1) for role in PSERVERS]


@pytest.mark.parametrize(
    "order",
    [
        [*BROKE_BY_1, *ENDED, LOST_0, FAILED_1],
        [*BROKE_BY_1, FAILED_1],
        [FAILED_1, BROKE_BY_1[0]],
        [LOST_0, *BROKE_BY_1, FAILED_1],
        [BROKE_BY_1[0], ENDED[0], LOST_0, FAILED_1],
        [JobBroke("pserver-0", (), "trainer 0 failed: TrainerLost"), BROKE_BY_1[1], LOST_0, FAILED_1],
        [RoleJoined("pserver-0"), LOST_0, FAILED_1, BROKE_BY_1[0]],  # it may be heard after all ends
    ],
)
def test_the_trainer_that_a_pserver_names_is_the_cause_in_whatever_order_things_end(order) -> None:
    assert blamed(*order) == ("trainer-1", 7, Phase.STOP)


@pytest.mark.parametrize("joined", [True, False])
def test_where_all_trainers_have_ended_pservers_that_none_has_met_are_not_waited_for(joined: bool) -> None:
    supervisor = led_to(Phase.TRAIN)
    supervisor.has_met = joined
    supervisor.handle(LOST_0, 2.0)
    supervisor.handle(FAILED_1, 2.0)
    assert supervisor.phase is (Phase.SETTLE if joined else Phase.STOP)
    for role in PSERVERS:
        supervisor.handle(RoleExited(role, 1), 2.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.STOP, 1)


def test_a_pserver_that_broke_the_job_itself_is_the_cause() -> None:
    own = JobBroke("pserver-1", ("pserver-1",), "internal error")
    follows = JobBroke("pserver-0", (), "trainer 0 failed: TrainerLost")
    assert blamed(own, LOST_0, RoleExited("trainer-1", 1), ENDED[1]) == ("pserver-1", 1, Phase.STOP)
    assert blamed(follows, own, ENDED[1])[0] == "pserver-1"
    assert blamed(own, *BROKE_BY_1, FAILED_1)[0] == "trainer-1"


def test_a_role_that_a_signal_killed_is_the_cause_unless_somebody_is_named() -> None:
    killed = RoleExited("pserver-1", -9)
    assert blamed(killed, LOST_0) == ("pserver-1", 137, Phase.STOP)
    assert blamed(LOST_0, killed) == ("pserver-1", 137, Phase.STOP)
    assert blamed(*BROKE_BY_1, RoleExited("trainer-0", -6), FAILED_1) == ("trainer-1", 7, Phase.STOP)


def test_a_pserver_that_only_says_that_the_job_broke_is_not_the_cause() -> None:
    follows = JobBroke("pserver-0", (), "trainer 0 failed: ShardUnreachable")
    assert blamed(follows, ENDED[0], RoleExited("pserver-1", 3))[:2] == ("pserver-1", 3)
    assert blamed(follows)[:2] == ("pserver-0", 1)


def test_a_trainer_that_is_waited_for_in_vain_is_the_cause_though_it_is_still_there() -> None:
    supervisor = led_to(Phase.TRAIN)
    supervisor.handle(JobBroke("pserver-0", ("trainer-1",), "gave up after 5 s"), 2.0)
    supervisor.handle(LOST_0, 2.0)
    supervisor.handle(Tick(), 7.1)
    assert supervisor.cause
    assert supervisor.cause.text == "trainer-1 broke the job"
    assert supervisor.cause.detail == "pserver-0: gave up after 5 s"
    assert supervisor.exit_status == 1


def test_a_signal_meanwhile_does_not_hide_what_broke() -> None:
    supervisor = led_to(Phase.TRAIN)
    supervisor.handle(FAILED_1, 2.0)
    assert supervisor.handle(Signalled(signal.SIGINT), 2.1)[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.exit_status == 7


def test_a_name_that_no_role_has_blames_nobody() -> None:
    assert blamed(JobBroke("pserver-0", ("trainer-9",), "who?"), FAILED_1)[:2] == ("trainer-1", 7)


def test_a_killed_role_gives_128_and_the_signal() -> None:
    supervisor = led_to(Phase.TRAIN)
    supervisor.handle(RoleExited("trainer-0", -signal.SIGKILL), 2.0)
    assert supervisor.exit_status == 137
    assert supervisor.cause
    assert supervisor.cause.text == "trainer-0 was killed by SIGKILL"


def test_a_pserver_that_ends_early_is_a_failure_even_with_status_0() -> None:
    supervisor = led_to(Phase.SERVE)
    supervisor.handle(RoleExited("pserver-0", 0), 2.0)
    assert supervisor.exit_status == 1
    assert supervisor.cause
    assert "before it was ready" in supervisor.cause.text


def test_a_pserver_that_is_never_ready_is_a_failure() -> None:
    supervisor = led_to(Phase.SERVE)
    supervisor.handle(RoleReady("pserver-0"), 1.0)
    for node in NODES:
        supervisor.handle(Heard(node), 60.0)
    assert supervisor.handle(Tick(), 62.0)[-2:] == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert supervisor.cause.role == "pserver-1"


def test_a_silent_node_is_lost() -> None:
    supervisor = led_to(Phase.TRAIN)
    supervisor.handle(Heard(0), 10.0)
    assert supervisor.handle(Tick(), 15.9) == []
    assert supervisor.handle(Tick(), 16.1) == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.cause
    assert (supervisor.cause.node, supervisor.exit_status) == (1, 1)


def test_an_agent_that_ends_unasked_is_a_failure() -> None:
    supervisor = led_to(Phase.TRAIN)
    assert supervisor.handle(NodeEnded(1, "stopped: lease"), 2.0) == [Stop(0, 2.0)]
    assert supervisor.cause
    assert "stopped: lease" in supervisor.cause.text


def test_signals_stop_then_kill_then_end() -> None:
    supervisor = led_to(Phase.TRAIN)
    assert supervisor.handle(Signalled(signal.SIGINT), 2.0) == [Stop(0, 2.0), Stop(1, 2.0)]
    assert supervisor.handle(Signalled(signal.SIGINT), 2.1) == [Kill(0), Kill(1)]
    assert supervisor.handle(Signalled(signal.SIGTERM), 2.2) == []
    assert supervisor.phase is Phase.END
    assert supervisor.exit_status == 130


def test_the_first_signal_lets_collecting_go_on_and_the_second_ends_it() -> None:
    supervisor = led_to(Phase.COLLECT)
    assert supervisor.handle(Signalled(signal.SIGINT), 2.0) == []
    assert (supervisor.phase, supervisor.exit_status) == (Phase.COLLECT, 130)
    supervisor.handle(Signalled(signal.SIGTERM), 2.1)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.END, 130)


@pytest.mark.parametrize("phase", [Phase.REACH, Phase.DELIVER, Phase.TRAIN, Phase.COLLECT])
def test_where_limits_say_so_the_second_signal_ends_a_launch_wherever_it_is(phase: Phase) -> None:
    supervisor = led_to(phase, Limits(most_signals=2))
    supervisor.handle(Signalled(signal.SIGINT), 2.0)
    assert not supervisor.is_hurried
    assert supervisor.phase is not Phase.END
    assert supervisor.handle(Signalled(signal.SIGTERM), 2.1) == []
    assert supervisor.is_hurried
    assert (supervisor.phase, supervisor.exit_status) == (Phase.END, 130)


def test_a_terminal_that_is_gone_says_so_twice_and_hurries_nobody() -> None:
    supervisor = led_to(Phase.TRAIN, Limits(most_signals=2))
    supervisor.handle(Signalled(signal.SIGHUP), 2.0)
    supervisor.handle(Signalled(signal.SIGHUP), 2.1)
    assert supervisor.phase is Phase.KILL
    assert not supervisor.is_hurried


def test_logs_are_collected_only_where_an_agent_was_up() -> None:
    supervisor = led_to(Phase.OPEN)
    supervisor.handle(Answered(0, Phase.OPEN), 1.0)
    supervisor.handle(NodeFailed(1, "in use"), 1.0)
    supervisor.handle(NodeEnded(0), 1.0)
    assert supervisor.handle(NodeEnded(1), 1.0) == [Step(0, Phase.COLLECT)]


def test_logs_that_cannot_be_collected_spoil_a_good_ending() -> None:
    supervisor = led_to(Phase.COLLECT)
    supervisor.handle(NodeFailed(0, "No space left on device"), 2.0)
    supervisor.handle(Answered(1, Phase.COLLECT), 2.0)
    assert (supervisor.phase, supervisor.exit_status) == (Phase.END, 1)


nodes = st.sampled_from(NODES)
roles = st.sampled_from(sorted(ROLES))
events = st.one_of(
    st.builds(Answered, nodes, st.sampled_from([*PREPARATION, Phase.COLLECT])),
    st.builds(Heard, nodes),
    st.builds(RoleReady, roles),
    st.builds(RoleJoined, st.sampled_from(sorted(PSERVERS))),
    st.builds(
        JobBroke,
        st.sampled_from(sorted(PSERVERS)),
        st.lists(roles, max_size=2, unique=True).map(tuple),
        st.just("it broke"),
    ),
    st.builds(RoleExited, roles, st.sampled_from([0, 0, 1, 7, -9, -15, -64])),
    st.builds(NodeFailed, nodes, st.just("trouble")),
    st.builds(NodeEnded, nodes),
    st.builds(Signalled, st.sampled_from([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])),
    st.builds(StopAsked, st.sampled_from([None, 0.0, 30.0]), is_killing=st.booleans()),
    st.just(Tick()),
)
# Most orders of events end a launch at once: a good beginning lets the rest happen in every phase. (No good
# launch comes to SETTLE or KILL.)
beginnings = st.sampled_from([p for p in Phase if p not in (Phase.SETTLE, Phase.REST, Phase.KILL, Phase.END)])


def expected_status(cause_event: object) -> int:
    match cause_event:
        case RoleExited(_, status):
            return 128 - status if status < 0 else status or 1
        case Signalled(signum):
            return 128 + signum
        case StopAsked():
            return 128 + signal.SIGTERM
    return 1


def expected_role(told: list[JobBroke], ended: list[RoleExited]) -> str | None:
    """The rules of cause.py once more, in other words."""
    named = [culprit for event in told for culprit in event.culprits]
    tellers = {event.role for event in told}
    failed = [event for event in ended if event.status]
    ranked = [
        *(role for role in named if role not in tellers),
        *named,
        *(event.role for event in failed if event.status < 0),
        *(event.role for event in failed if event.role not in tellers),
        *(event.role for event in failed),
        *(event.role for event in told),
    ]
    return ranked[0] if ranked else None


@settings(max_examples=600, deadline=None)
@given(beginnings, st.lists(st.tuples(events, st.floats(0, 20)), max_size=25))
def test_whatever_happens_it_ends_with_every_node_stopped_and_the_first_cause(beginning, story) -> None:
    supervisor = led_to(beginning)
    now, asked, ended = 1.0, set(), set()
    if beginning >= Phase.STOP:
        asked = set(NODES)
    first_cause, told, exits = None, [], []
    # After the story the user gives up waiting, and time passes with no node answering any more.
    ending = [(Signalled(signal.SIGTERM), 0.0)] + [(Tick(), 2.0)] * 4 + [(Signalled(signal.SIGTERM), 0.0)] * 2
    for event, passed in [*story, *ending]:
        now += passed
        before, had_cause = supervisor.phase, supervisor.cause is not None
        if Phase.TRAIN <= before < Phase.STOP:
            told += [event] if isinstance(event, JobBroke) else []
            exits = [e for e in exits if e.role != event.role] if isinstance(event, RoleExited) else exits
            exits += [event] if isinstance(event, RoleExited) else []
        actions = supervisor.handle(event, now)
        assert supervisor.phase >= before
        if isinstance(event, NodeEnded):
            ended.add(event.node)
        asked |= {action.node for action in actions if isinstance(action, Stop)}
        if any(isinstance(action, StartRole) for action in actions):
            assert not asked, "no role is started once the end has begun"
        if supervisor.cause and not had_cause:
            first_cause = event
            is_settled = Phase.SETTLE in supervisor.history
            assert not is_settled or supervisor.cause.role == expected_role(told, exits)
        if supervisor.phase >= Phase.STOP:
            assert asked | ended >= set(NODES), "every node that has not ended is told to stop"
    assert supervisor.phase is Phase.END
    assert supervisor.history == sorted(set(supervisor.history))
    if Phase.SETTLE not in supervisor.history:
        assert supervisor.exit_status == (expected_status(first_cause) if first_cause else 0)
    else:
        # Nobody is blamed where the role whose failure was looked into has ended well since.
        role = supervisor.cause.role
        of_role = [expected_status(event) for event in exits if event.role == role] or [1]
        assert supervisor.exit_status == (expected_status(first_cause) if role is None else of_role[0])
