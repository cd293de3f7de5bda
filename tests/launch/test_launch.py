"""The loop between the supervisor and a carrier, on a clock of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paddle._launch.backends import Post
from paddle._launch.events import Answered, NodeEnded, RoleExited, RoleReady
from paddle._launch.launch import Launch
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.settings import Host

ROLES = ("pserver-0", "trainer-0")


def plan(home: Path) -> LaunchPlan:
    roles = tuple(
        RolePlan(name=name, kind=name[:-2], node=0, argv=(), env={}, prepend={}, log="") for name in ROLES
    )
    node = NodePlan(node=0, host=Host("local"), address="127.0.0.1", workspace=home, roles=roles)
    return LaunchPlan(
        name="JOB1",
        nodes=(node,),
        prepare=(),
        package=None,
        home=home,
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

    def kill(self, node: int) -> None:
        self.stop(node, 0.0)

    def close(self) -> None:
        pass


class Silent:
    """A screen."""

    is_gone = False

    def say(self, text: str) -> None: ...

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
