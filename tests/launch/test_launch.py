"""The loop between the supervisor and a carrier, on a clock of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from paddle._launch.actions import TellFallen
from paddle._launch.backends import Post, Say, unheard
from paddle._launch.events import Answered, NodeEnded, NodeFailed, RoleExited, RoleJoined, RoleReady
from paddle._launch.launch import Launch
from paddle._launch.news import Changed, Progress, Restarted, Said, Waiting
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.settings import Host

ROLES = ("pserver-0", "trainer-0")


def plan(home: Path, nodes: int = 1) -> LaunchPlan:
    roles = tuple(
        RolePlan(name=name, kind=name[:-2], node=0, argv=(), env={}, prepend={}, log="") for name in ROLES
    )
    return LaunchPlan(
        name="JOB1",
        nodes=tuple(
            NodePlan(
                node=node,
                host=Host("local"),
                address=f"127.0.0.{node + 1}",
                workspace=home,
                roles=() if node else roles,
            )
            for node in range(nodes)
        ),
        prepare=(),
        package=None,
        home=home,
        snapshots=None,
        ports=(1, 1, 0),
        origins=(),
        ready_timeout_s=60.0,
    )


class Ready:
    """A carrier whose node does everything at once; what ``at_training`` does comes on top."""

    def __init__(self, post: Post, at_training: Callable[[], None]) -> None:
        self._post, self._at_training = post, at_training

    def step(self, node: int, phase: Phase) -> None:
        self._post(Answered(node, phase))

    def start(self, role: str) -> None:
        if role.startswith("pserver"):
            self._post(RoleReady(role))
        else:
            self._at_training()

    def stop(self, node: int, grace_s: float) -> None:
        self._post(NodeEnded(node))

    def tell(self, fallen: TellFallen) -> None: ...

    def kill(self, node: int) -> None:
        self.stop(node, 0.0)

    def withdraw(self, nodes: Iterable[int]) -> None:
        self.withdrawn = list(nodes)

    def close(self, say: Say = unheard) -> str:
        return ""


class Silent:
    """A screen."""

    is_gone = False

    def say(self, text: str) -> None: ...

    def tell(self, bulletin: object) -> None: ...

    def show(self, board: object, now: float) -> None: ...

    def fix(self) -> None: ...

    def close(self) -> None: ...


class Clock:
    """Each look at it takes a tenth of a second; ``due``: what happens at a time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        self.now += 0.1
        for entry in [entry for entry in self.due if entry[0] <= self.now]:
            self.due.remove(entry)
            entry[1]()
        return self.now


def run(home: Path, *, pause_s: float, training_s: float) -> Launch:
    """Run a job whose launcher stands still as training begins, and whose agent then says nothing."""
    clock = Clock()

    def carry(_: LaunchPlan, post: Post) -> Ready:
        def train() -> None:
            clock.now += pause_s
            for role in ROLES:
                clock.due.append((clock.now + training_s, lambda role=role: post(RoleExited(role, 0))))

        return Ready(post, train)

    launch = Launch(plan(home), Silent(), carry, clock)
    launch.run()
    return launch


def test_a_pause_of_the_launcher_is_nobody_elses_silence(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    assert run(tmp_path, pause_s=1000.0, training_s=5.0).cause is None


def test_silence_is_noticed_after_a_pause_too(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    cause = run(tmp_path, pause_s=1000.0, training_s=30.0).cause
    assert cause
    assert cause.text.startswith("nothing was heard from it")


def test_a_trainer_that_ended_without_a_goodbye_is_to_blame_once_pservers_wait(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)

    def carry(_: LaunchPlan, post: Post) -> Ready:
        def train() -> None:
            post(RoleJoined("pserver-0"))
            post(RoleExited("trainer-0", 0))
            clock.due.append((clock.now + 6.0, lambda: post(Waiting(("trainer-0",), 6.0))))

        return Ready(post, train)

    clock = Clock()
    launch = Launch(plan(tmp_path), Silent(), carry, clock)
    launch.run()
    assert launch.cause
    assert (launch.cause.role, launch.cause.status) == ("trainer-0", 1)


@pytest.mark.parametrize("failing", [Phase.DELIVER, Phase.OPEN])
def test_a_launch_that_started_nothing_leaves_the_logs_of_the_job_before(tmp_path, failing) -> None:
    earlier = tmp_path / "log" / "node-0" / "train.log"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("all went well")
    steps = []

    class Failing(Ready):
        def step(self, node: int, phase: Phase) -> None:
            steps.append(phase)
            fails = phase is failing and node == 1
            self._post(NodeFailed(node, "disk full") if fails else Answered(node, phase))

    launch = Launch(plan(tmp_path, nodes=2), Silent(), lambda _, post: Failing(post, lambda: None), Clock())
    assert launch.run() == 1
    assert (launch.has_started, launch.has_trained) == (False, False)
    assert failing in steps
    assert Phase.COLLECT not in steps
    assert earlier.read_text() == "all went well"


class Recorder(Silent):
    """A screen that keeps all."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def say(self, text: str) -> None:
        self.told.append(Said(text))

    def tell(self, bulletin: object) -> None:
        self.told.append(bulletin)


def killed_twice(home: Path, most: int) -> tuple[Launch, list[object], list[str]]:
    """A job whose trainer is killed twice and then ends well; what was told of it, and what was started."""
    clock, screen, starts = Clock(), Recorder(), list[str]()

    def carry(_: LaunchPlan, post: Post) -> Ready:
        class Carrier(Ready):
            def start(self, role: str) -> None:
                starts.append(role)
                super().start(role)

        def train() -> None:
            status = -9 if starts.count("trainer-0") <= 2 else 0
            clock.due.append((clock.now + 0.5, lambda: post(RoleExited("trainer-0", status))))

        return Carrier(post, train)

    launch = Launch(msgspec.structs.replace(plan(home), max_restart=most), screen, carry, clock)
    launch.run()
    told = [each for each in screen.told if getattr(each, "role", "trainer-0") == "trainer-0"]
    return launch, told, starts


def test_that_a_role_is_started_again_is_told_to_people_and_programs_and_counted(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    launch, told, starts = killed_twice(tmp_path, most=2)
    assert launch.cause is None
    assert starts == ["pserver-0", "trainer-0", "trainer-0", "trainer-0"]
    assert [each.state for each in told if isinstance(each, Changed)] == [
        *("starts", "failed", "waits"),
        *("starts", "failed", "waits"),
        *("starts", "ended"),
    ]
    first, second = [each.text for each in told if isinstance(each, Restarted)]
    assert first == "its process was killed by SIGKILL; it is started again in 1 s, and once more"
    assert second == "its process was killed by SIGKILL; it is started again in 2 s, for the last time"
    lines = [each.text for each in told if isinstance(each, Said)]
    assert lines.count("starting trainer-0 again") == 2
    assert f"trainer-0: {first}" in lines


def test_one_death_too_many_ends_the_launch_with_the_status_of_that_role(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    launch, _, starts = killed_twice(tmp_path, most=1)
    assert starts.count("trainer-0") == 2
    assert launch.cause is not None
    assert (launch.cause.role, launch.cause.status) == ("trainer-0", 137)
    assert "it had been started again once (--max_restart=1)" in launch.cause.detail


def lines_of(home: Path, steps: Iterable[float], *, joins: bool) -> list[str]:
    """What people read of a job whose trainer makes steps at these times, in seconds, and ends well."""
    clock, screen = Clock(), Recorder()

    def carry(_: LaunchPlan, post: Post) -> Ready:
        def train() -> None:
            for batch, at in enumerate(steps):
                step = Progress("trainer-0", 0, batch, 0.5, 1.0)
                clock.due.append((clock.now + at, lambda step=step: post(step)))
            for role in ROLES:
                clock.due.append((clock.now + 13, lambda role=role: post(RoleExited(role, 0))))
            if joins:
                post(RoleJoined("pserver-0"))

        return Ready(post, train)

    Launch(plan(home), screen, carry, clock).run()
    return [each.text for each in screen.told if isinstance(each, Said)]


def test_trainers_that_train_alone_are_told_of_while_they_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    lines = lines_of(tmp_path, [1, 2, 12], joins=False)
    (alone,) = [number for number, line in enumerate(lines) if "each trainer trains alone" in line]
    assert "is_local=False" in lines[alone]
    assert alone < next(number for number, line in enumerate(lines) if line.startswith("trainers succeeded"))
    assert "no trainer has connected to the pservers: stopping them" in lines[alone:]


def test_that_trainers_trained_alone_is_told_at_the_end_of_a_short_job(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    assert sum("each trainer trains alone" in line for line in lines_of(tmp_path, [1], joins=False)) == 1
    assert not any("alone" in line for line in lines_of(tmp_path, [1, 12], joins=True))
    assert not any("alone" in line for line in lines_of(tmp_path, [], joins=False))  # it may not train at all


class Lost(Ready):
    """A carrier of one life; that of a later one trains well. What the first one hears late comes late."""

    def __init__(self, life: int, post: Post, closed: list[int]) -> None:
        super().__init__(post, self._train)
        self._life, self._closed = life, closed

    def _train(self) -> None:
        if self._life == 1:
            self._post(RoleJoined("pserver-0"))
            self._post(NodeEnded(0, "its connection broke"))
            self._post(RoleExited("trainer-0", 7))  # which must not fail the life after this one
            return
        for role in ROLES:
            self._post(RoleExited(role, 0))

    def step(self, node: int, phase: Phase) -> None:
        if self._life == 1 and phase is Phase.REACH:
            Lost.late = self._post
        if self._life == 2 and phase is Phase.OPEN:
            Lost.late(NodeEnded(0, "told twice"))
            Lost.late(NodeFailed(0, "and late"))
        super().step(node, phase)

    def close(self, say: Say = unheard) -> str:
        self._closed.append(self._life)
        return ""


def test_of_a_life_that_is_over_nothing_is_heard_and_its_nodes_are_let_go(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.001)
    plans: list[LaunchPlan] = []
    closed: list[int] = []

    def carry(plan: LaunchPlan, post: Post) -> Lost:
        plans.append(plan)
        return Lost(len(plans), post, closed)

    first = msgspec.structs.replace(plan(tmp_path), max_restart=1, snapshots=Path("kept"))
    launch = Launch(first, Silent(), carry, Clock())
    assert (launch.run(), launch.cause) == (0, None)
    assert [[node.life for node in each.nodes] for each in plans] == [[1], [2]]
    assert sorted(closed) == [1, 2]
