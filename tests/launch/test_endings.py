"""A launch that is told to end, at every message that it takes, once and again: its nodes are told."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch import launch as launching
from paddle._launch.events import Event, Signalled, StopAsked
from paddle._launch.launch import Launch
from paddle._launch.news import Printed
from paddle._launch.phases import Phase
from paddle._launch.results.keeper import Keeper
from tests.launch.simulated import PromptKeeper, SilentScreen, SimulatedCrew, World, plan

PROMISED_S = 5.0
SOUND = ("sound", "sound", "sound")
Story = Sequence[tuple[int, Event]]  # so many messages were taken, and then this came


class Ending:
    """A launch to which a story happens."""

    def __init__(
        self,
        home: Path,
        hows: Sequence[str],
        story: Story,
        printed: int = 0,
        keeper: type[Keeper] = PromptKeeper,
    ) -> None:
        self.world, self.screen, self._printed = World(), SilentScreen(), printed
        self.first_at: float | None = None
        self.phase_then: Phase | None = None
        self._story = sorted(story, key=lambda entry: entry[0])
        self.world.before_take = self._happen
        with patch.object(launching, "Inbox", lambda: self.world), patch.object(launching, "Keeper", keeper):
            self.launch = Launch(plan(home, len(hows)), self.screen, self._carry(hows), self.world.clock)
            self.status = self.launch.run()
        self.ended_at = self.world.now
        self.world.run_out()

    def _carry(self, hows: Sequence[str]):
        def carry(_: object, post):
            self.crew = SimulatedCrew(hows, self.world, post)
            return self.crew

        return carry

    def _happen(self, taken: int) -> None:
        while self._story and self._story[0][0] <= taken:
            event = self._story.pop(0)[1]
            if self.first_at is None:
                self.first_at = self.world.now
                self.phase_then = self.launch._supervisor.phase
                for number in range(self._printed):
                    self.world.put((0, Printed("trainer-0", (f"line {number}",))))
            self.launch.ask(event)

    def check(self) -> None:
        """What holds however it was told to end, and whatever its nodes are like."""
        assert self.crew.is_closed
        assert self.screen.is_closed
        for node in self.crew.nodes:
            if not node.is_silent():
                assert not node.running, f"roles are left on node {node.node}, which is {node.how}"
        if self.first_at is not None:
            for node in self.crew.nodes:
                assert node.ended_at <= self.first_at + PROMISED_S
        left = {n.node for n in self.crew.nodes} - self.crew.withdrawn
        if not self.launch.has_trained and self.launch.has_started:
            assert left == {node for node in left if (node, "log") not in self.launch.collected}
        elif not self.launch.has_trained:
            assert not left, "what was sent is taken back where nothing was started"
        else:
            assert not self.crew.withdrawn


def lengths(home: Path) -> int:
    """How many messages a launch takes that nobody ends."""
    ending = Ending(home, SOUND, [])
    assert ending.status == 0
    return ending.world.taken


@pytest.mark.parametrize(
    "event", [Signalled(signal.SIGINT), Signalled(signal.SIGTERM), Signalled(signal.SIGHUP), StopAsked()]
)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_at_every_message_it_ends_all_and_says_who_asked(tmp_path, event, times) -> None:
    seen = set()
    for at in range(lengths(tmp_path)):
        ending = Ending(tmp_path, SOUND, [(at, event)] * times)
        ending.check()
        is_over = isinstance(event, StopAsked) and ending.phase_then >= Phase.STOP  # there is nothing to stop
        assert ending.status == (0 if is_over else 128 + getattr(event, "signum", signal.SIGTERM))
        seen.add(ending.phase_then)
        is_given_up = times == 3 and isinstance(event, Signalled)
        for node in ending.crew.nodes:
            if node.is_open and ending.launch.has_started and not is_given_up:
                assert times == 2 or (node.node, "log") in ending.launch.collected
    assert seen >= {
        Phase.REACH,
        Phase.DELIVER,
        Phase.OPEN,
        Phase.SERVE,
        Phase.TRAIN,
        Phase.FINISH,
        Phase.COLLECT,
    }


@pytest.mark.parametrize("how", ["stubborn", "hangs", "dead"])
def test_a_node_that_does_not_obey_keeps_no_other_from_ending_and_not_the_launch(tmp_path, how) -> None:
    for at in range(lengths(tmp_path) // 2):
        ending = Ending(tmp_path, ("sound", how, "sound"), [(at, Signalled(signal.SIGINT))])
        ending.check()
        assert ending.status == 130
        assert ending.ended_at - ending.first_at < PROMISED_S + 6.0
        if how != "dead":
            assert ending.ended_at - ending.first_at < PROMISED_S


def test_who_asks_goes_before_all_that_roles_have_printed(tmp_path) -> None:
    at = lengths(tmp_path) // 2
    ending = Ending(tmp_path, SOUND, [(at, Signalled(signal.SIGINT))], printed=1000)
    assert ending.status == 130
    assert {node.told_at for node in ending.crew.nodes} == {at + 1}
    assert ending.launch.last_lines("trainer-0")[-1] == "line 999", "what was printed is not lost"


events = st.one_of(
    st.builds(Signalled, st.sampled_from([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])),
    st.builds(StopAsked, st.sampled_from([None, 0.0, 1.0]), is_killing=st.booleans()),
)
hows = st.lists(st.sampled_from(["sound", "stubborn", "hangs", "dead"]), min_size=1, max_size=3)


@settings(max_examples=300)
@given(hows, st.lists(st.tuples(st.integers(0, 60), events), max_size=4))
def test_whoever_asks_however_often_it_ends_and_nothing_is_left(tmp_path_factory, hows, story) -> None:
    story = [*story, (61, Signalled(signal.SIGTERM))]  # a launch with a dead node would go on for a while
    ending = Ending(tmp_path_factory.getbasetemp(), hows, story)
    ending.check()
    assert ending.status in (0, 1, 129, 130, 143)
