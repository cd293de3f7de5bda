"""One pod of a launch: what it prints becomes events and news, and its results are fetched.

It must never know of other pods. Guarantee: what decides about a job is told once its role was to be started,
and in the order in which it came; a line that a role prints is told once; that a container ends is told, also
where another one had taken its place before anybody looked, and so is, within a time, that nothing is there
any more that could run it. What its role is to be told waits until its container runs.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from paddle._launch import logs
from paddle._launch.actions import TellFallen
from paddle._launch.backends import Post
from paddle._launch.backends.frames import FrameReader
from paddle._launch.cause import how_ended
from paddle._launch.errors import DeliveryError, NodeError
from paddle._launch.events import Event, NodeEnded, NodeFailed, RoleExited, RoleReady
from paddle._launch.kubernetes import advice, names
from paddle._launch.kubernetes.following import Following
from paddle._launch.kubernetes.inside.hearing import line_of
from paddle._launch.kubernetes.inside.telling import text_of
from paddle._launch.kubernetes.kubectl import Kubectl, typed
from paddle._launch.kubernetes.line import PodLine
from paddle._launch.kubernetes.parting import Parting
from paddle._launch.kubernetes.watching import PodState
from paddle._launch.machines import arrivals
from paddle._launch.machines.conversation import converse
from paddle._launch.news import Collected, News, Placed, Printed, Restarted, Told
from paddle._launch.plan import LaunchPlan, NodePlan
from paddle._launch.turn import Turn

_ENDED = '"event": "ended"'
_ENTRY = "agent.sender"
_SIGNALLED = 128
_ANOTHER = "its pod is gone, and another takes its place"
_SAME = "its container {how}; Kubernetes begins it again, and it goes on from its newest snapshot"
_TAKEN_AWAY = "its pod was taken away, and another cannot take up the pass that it was in the middle of"
_MOST_VAIN = 3  # containers that end one after another before they serve
_NO_SNAPSHOTS = ", without --snapshot_dir with nothing to go on from"
_GOES = "It goes with its pod."
_TOLD_S = 10.0


class Pod:
    """See the module's text. ``role``: what runs in it."""

    def __init__(
        self,
        launch: LaunchPlan,
        plan: NodePlan,
        kubectl: Kubectl,
        post: Post,
        turn: Turn,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._launch, self._plan, self._kubectl, self._post = launch, plan, kubectl, post
        self._turn = turn
        self.role = plan.roles[0].name
        self._kind = plan.roles[0].kind
        self._parting = Parting(self._kind, typed(launch.pods) if launch.pods else "")
        self._lock = threading.Lock()
        self._held: list[Event] | None = []  # None once the role was to be started
        self._state: PodState | None = None
        self._following: Following | None = None
        self._reader = FrameReader(plan.node, [self.role])
        self._has_exited = self._has_ended = self._is_stopping = self._has_failed = False
        self._has_served = self._is_lost = False
        self._ends = self._vain = 0  # containers that have ended in it; since it served last
        self._untold: deque[TellFallen] = deque()
        self._told_in_vain: TellFallen | None = None
        self._telling = threading.Lock()

    @property
    def has_begun(self) -> bool:
        """Whether its container has run."""
        return self._state is not None and self._state.has_begun

    @property
    def _named(self) -> str:
        """Its role, and the pod as kubectl takes it, once there is one."""
        return f"{self.role} (pod {self._state.name})" if self._state else self.role

    def start(self) -> None:
        """From now on what its role does is told."""
        with self._lock:
            held, self._held = self._held or [], None
        for event in held:
            self._post(event)

    def know(self, state: PodState | None) -> None:
        """Take how it stands, and no more."""
        self._state = state

    @property
    def lacks(self) -> bool:
        """Whether it has run, is not listed, and neither has ended nor counts as lost."""
        is_over = self._has_exited or self._is_lost or self._is_stopping
        return self._parting.is_gone and self.has_begun and not is_over

    def see(self, state: PodState | None, why_none: str = "") -> None:
        """Take how it stands; ``why_none``: in words, why none takes the place of one that is gone."""
        before, self._state = self._state, state or self._state
        if before is not None:
            told, lost = self._parting.look(before.name, state, self._clock(), why_none)
            self._part(told, lost)
        if state is None:
            return
        if before is None or before.name != state.name:
            self._post(Placed(self.role, f"pod {state.name}"))
        if before is not None and before.uid != state.uid:
            self._take_another(before, state)
        if state.has_begun and not self._is_lost and self._following is None:
            self._following = Following(self._kubectl, state.name, partial(self._is_over, state.uid))
            follow = partial(self._follow, self._following, state.uid)
            threading.Thread(target=follow, daemon=True).start()
        if state.ends > self._ends:
            self._ends, self._vain = state.ends, self._vain + 1
            self._take_end(state)
        if self._untold:
            threading.Thread(target=self._tell_rest, daemon=True).start()

    def _part(self, told: str, lost: str) -> None:
        """Its pod is gone, or is to go: one that never ran is waited for as one that was never made."""
        if self._has_exited or self._is_lost or self._is_stopping or not self.has_begun:
            return
        if told:
            self._told(self.role, told)
        if lost:
            self._lose(lost)

    def _lose(self, why: str) -> None:
        """Nothing is heard of it any more: as if it had been killed, which it was if its machine was lost."""
        self._is_lost = True
        self._deliver(RoleExited(self.role, -signal.SIGKILL, why))
        if self._following is not None:
            self._following.leave()

    def fail(self, text: str) -> None:
        """Say, once, that it cannot do its part."""
        if not self._has_failed:
            self._has_failed = True
            self._deliver(NodeFailed(self._plan.node, f"{self._named}: {text}"))

    def tell(self, fallen: TellFallen) -> None:
        """Tell its role that another has ended for good, now or once its container runs."""
        self._untold.append(fallen)
        self._tell_rest()

    def _tell_rest(self) -> None:
        """Tell all that can be told now. What cannot is tried again at the next look."""
        if not self._telling.acquire(blocking=False):
            return
        try:
            while self._untold and (state := self._state) is not None and state.is_running:
                if not self._add_news(state.name, self._untold[0]):
                    return
                self._untold.popleft()
        finally:
            self._telling.release()

    def _add_news(self, pod: str, fallen: TellFallen) -> bool:
        place = f"{self._plan.workspace}/{names.NEWS}"
        try:
            words = ("exec", "-i", pod, "--", "tee", "-a", place)
            self._kubectl.ask(*words, given=line_of(fallen), within_s=_TOLD_S)
        except NodeError as error:
            if self._told_in_vain is not fallen:
                self._told_in_vain = fallen
                self._told(self.role, f"could not be told yet that {fallen.text}, and waits for it: {error}")
            return False
        return True

    def stop(self) -> None:
        """Have its role ended; the pod stays."""
        self._is_stopping = True
        state = self._state
        is_there = state is not None and state.is_running and not self._parting.is_gone
        if self._has_ended or self._is_lost or state is None or not is_there:
            self._post(NodeEnded(self._plan.node))
            return
        place = f"{self._plan.workspace}/{names.STOP}"
        try:
            self._kubectl.ask("exec", state.name, "--", "touch", place, within_s=_TOLD_S)
        except NodeError:  # then there is nothing to stop, or nobody who could
            self._post(NodeEnded(self._plan.node))

    def kill(self) -> None:
        """End it by force."""
        if self._state is not None:
            try:
                how = ("--grace-period=0", "--force", "--wait=false", "--ignore-not-found")
                self._kubectl.ask("delete", "pod", self._state.name, *how, within_s=10.0)
            except NodeError as error:
                self._post(Told(self.role, str(error)))
        self._post(NodeEnded(self._plan.node))

    def leave(self) -> None:
        """Let go."""
        if self._following is not None:
            self._following.leave()

    def collect(self) -> None:
        """Fetch its logs, and the model where it is the one that has it."""
        tell: Callable[[str], None] = partial(self._told, f"node {self._plan.node}")
        if self._state is None or not self._state.is_running or self._parting.is_gone:
            tell(f"nothing could be collected: {self._named} does not run")
            return
        home, saver = self._launch.home, self._launch.saver
        fetch = partial(self._fetch, PodLine(self._kubectl, self._state.name), tell)
        with self._turn.taken(tell):
            there = logs.collect(self._plan.workspace, home, self._plan.node, tell, fetch, saver, _GOES)
        for folder in there:
            self._post(Collected(self._plan.node, folder))

    def _fetch(self, line: PodLine, tell: Callable[[str], None], source: Path, part: Path) -> bool:
        assert self._launch.pods is not None
        try:
            with converse(line, (self._launch.pods.python, "python3"), _ENTRY) as talk:
                talk.tell({"folder": str(source)})
                return arrivals.receive(talk.wire.receive, part, tell)
        except NodeError as error:
            raise DeliveryError(str(error)) from error

    def _take_another(self, before: PodState, state: PodState) -> None:
        """Rule 3 of pods.py. A trainer's whose pod had not run takes nothing up, so any other pod will do."""
        if self._kind == "trainer" and before.has_begun:
            if not (self._has_exited or self._is_lost or self._is_stopping):
                self._lose(_TAKEN_AWAY)
            return
        if self._following is not None:
            self._following.leave()
        self._following = None
        self._reader = FrameReader(self._plan.node, [self.role])
        self._has_exited = self._has_ended = self._is_lost = False
        self._ends = 0
        if self._kind == "pserver":
            rest = "" if self._launch.snapshots is not None else _NO_SNAPSHOTS
            self._post(Restarted(self.role, f"{_ANOTHER}{rest}"))

    def _take_end(self, state: PodState) -> None:
        """A container has ended. That of a trainer was the only one, and its log says when it is over."""
        if self._kind != "pserver" or self._has_exited or self._is_lost:
            return
        if not self._goes_on():
            self._is_lost = True
            assert self._following is not None  # it has begun
            self._following.leave()
        elif not state.is_leaving:  # another pod takes its place then, and that is told
            why = advice.with_it(state.last.why, self.role)
            said = f" ({why})" if why else ""
            how = f"{how_ended(_as_signal(state.last.status))}{said}"
            self._post(Restarted(self.role, _SAME.format(how=how)))

    def _goes_on(self) -> bool:
        """Whether it is followed past the end of a container."""
        is_kept = self._kind == "pserver" and self._launch.snapshots is not None and self._has_served
        return is_kept and not self._is_stopping and self._vain <= _MOST_VAIN

    def _is_over(self, uid: str) -> bool:
        state = self._state
        return state is None or state.uid != uid or (state.has_ended and not self._goes_on())

    def _follow(self, following: Following, uid: str) -> None:
        for lines in following.lines():
            if self._following is following:
                self._hear(lines)
        state = self._state
        if state is not None and state.uid == uid and (self._is_lost or (state.ends and self._is_over(uid))):
            if self._is_lost:
                self._hear(following.rest(is_before=state.is_again))
            if not self._has_exited:
                why = advice.with_it(state.last.why, self.role)
                self._deliver(RoleExited(self.role, _as_signal(state.last.status), why))
        if self._is_stopping:
            self._post(NodeEnded(self._plan.node))

    def _hear(self, lines: list[str]) -> None:
        plain: list[str] = []
        for line in lines:
            text, is_report = text_of(line)
            if not is_report:
                plain.append(text)
                continue
            self._print(plain)
            for message in self._reader.feed(text.encode() + b"\n"):
                self._deliver(message)
            if _ENDED in text:
                self._has_ended = True
                if self._is_stopping:
                    self._post(NodeEnded(self._plan.node))
        self._print(plain)

    def _print(self, lines: list[str]) -> None:
        if lines:
            self._post(Printed(self.role, tuple(lines)))
            lines.clear()

    def _deliver(self, message: Event | News) -> None:
        if isinstance(message, RoleExited):
            self._has_exited = True
            if message.status == -signal.SIGKILL and not message.why:
                message = RoleExited(message.role, message.status, advice.of_kill(self.role, self._limit()))
        if isinstance(message, RoleReady):
            self._has_served, self._vain = True, 0
        if isinstance(message, News):
            self._post(message)
            return
        with self._lock:
            if self._held is not None:
                self._held.append(message)
                return
        self._post(message)

    def _limit(self) -> str:
        """The most memory that it may have, where it was said."""
        assert self._launch.pods is not None
        asked = self._launch.pods
        return (asked.pserver if self._kind == "pserver" else asked.trainer).limit

    def _told(self, source: str, text: str) -> None:
        self._post(Told(source, text))


def _as_signal(status: int) -> int:
    """A container's status as a process's: what a signal ended has minus its number."""
    return _SIGNALLED - status if status > _SIGNALLED else status
