"""Pods as the nodes of a launch: made from manifests, watched and read through kubectl, and taken away.

It must never decide: the supervisor does, as it does over machines, and Kubernetes, which starts pods and
brings parameter servers back. Guarantee, by seven rules:

1. Nothing is made before the cluster has said that it may be, and the first object is one that no other job
   can have: whoever has it has the name.
2. What a role does is told only once it was to be started, however early its pod began.
3. A pod that is gone is followed under its name by the one that takes its place, a parameter server's; a
   trainer's is the end of its role, and so is any that nothing takes the place of within a time (parting.py).
4. What keeps pods from running is told, once for each reason with all of them; for longer than
   ``ready_timeout_s``, or where it does not pass, it is a failure.
5. A container that ends without its role having said how is the role's end, however soon another one is begun
   in its place; a parameter server's that has served and keeps snapshots is followed on.
6. Stopping ends roles and leaves pods, so that results can be collected; letting go takes away all that this
   launch has made, or perhaps has, and waits until it is gone, or says what is left. Who is hurried waits for
   nothing: no kubectl goes on, and what is there is taken away by another process (sweeping.py).
7. Who only collects takes nothing away.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial

from paddle._launch.actions import TellFallen
from paddle._launch.backends import Post, Say, unheard
from paddle._launch.backends.pod import Pod
from paddle._launch.errors import LaunchError, NodeError
from paddle._launch.events import Answered, NodeFailed
from paddle._launch.kubernetes import names, pods, removal, sweeping, watching, whole
from paddle._launch.kubernetes.kubectl import Kubectl, Refused
from paddle._launch.kubernetes.waits import Waits, listed
from paddle._launch.kubernetes.watching import PodState
from paddle._launch.news import Told
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan
from paddle._launch.turn import Turn
from paddle._visible import visible

_LOOK_S = 1.0
_GONE_S = 90.0
_MAKING_S = 5.0  # for what is being made when all is to go
_ASKED_S = 45.0  # for the first answer: sooner than the phase is over
_GOES_ON = "The job goes on meanwhile, and how it stands is asked again."
_UNSAID = "its pod was not started, and the cluster does not say why"


class PodCrew:
    """See the module's text."""

    def __init__(self, plan: LaunchPlan, post: Post, clock: Callable[[], float] = time.monotonic) -> None:
        assert plan.pods is not None
        self._plan, self._post, self._clock = plan, post, clock
        self._kubectl, self._remover = Kubectl(plan.pods), Kubectl(plan.pods)
        turn = Turn(plan.home)
        self._pods = {node.node: Pod(plan, node, self._kubectl, post, turn) for node in plan.nodes}
        self._by_role = {node.roles[0].name: self._pods[node.node] for node in plan.nodes}
        self._version = ""
        self._has_made = self._is_hurried = False
        self._is_left = threading.Event()
        self._making = threading.Lock()
        self._asked: dict[Phase, int] = {}
        self._told: set[str] = set()
        self._waits = Waits(plan.pods.image)
        self._refused: dict[str, str] = {}  # why pods could not be made, by who was to make them
        self._began = 0.0
        self._waiting: dict[str, float] = {}  # who does, and since when

    def step(self, node: int, phase: Phase) -> None:
        match phase:
            case Phase.REACH:
                self._once(phase, self._reach, node)
            case Phase.DELIVER:
                self._once(phase, self._make, node)
            case Phase.OPEN:
                self._once(phase, self._watch, node)
            case Phase.COLLECT:
                _in_background(partial(self._collect, node))
            case _:
                self._post(Answered(node, phase))

    def start(self, role: str) -> None:
        self._by_role[role].start()

    def tell(self, fallen: TellFallen) -> None:
        if fallen.goes_on:  # else all are stopped, and nobody waits for what takes longer than that
            _in_background(partial(self._by_role[fallen.hearer].tell, fallen))

    def stop(self, node: int, grace_s: float) -> None:
        _in_background(self._pods[node].stop)

    def kill(self, node: int) -> None:
        _in_background(self._pods[node].kill)

    def withdraw(self, nodes: Iterable[int]) -> None:
        """All that was made goes when it is let go of."""

    def hurry(self) -> None:
        self._is_hurried = True
        self._kubectl.abandon()
        self._remover.abandon()

    def close(self, say: Say = unheard) -> str:
        self._is_left.set()
        for pod in self._pods.values():
            pod.leave()
        self._end_making(say)
        if not self._has_made:
            return ""
        name = self._plan.name
        if not self._is_hurried:
            say(f"taking {name} away")
        try:
            for line in removal.remove(self._remover, name, _GONE_S, lambda: self._is_hurried):
                say(visible(line))
        except NodeError as error:
            trouble = str(error)
        else:
            return ""
        if self._is_hurried:
            is_begun = sweeping.begin(self._plan)
            how = "it is being taken away in the background" if is_begun else "nobody takes it away"
            trouble = f"it was not waited for that {name} is gone: {how}."
        return f"{trouble} What may be left of {name} in the cluster: {removal.by_hand(self._plan)}"

    def _end_making(self, say: Say) -> None:
        """Else what is just being made would stay; a kubectl that hangs is not waited for."""
        end = time.monotonic() + _MAKING_S
        while not (is_over := self._making.acquire(timeout=_LOOK_S / 10)):
            if self._is_hurried or time.monotonic() > end:
                break
        if not is_over and not self._is_hurried:
            say(f"kubectl still makes {self._plan.name}, and is ended")
        self._kubectl.abandon()
        if is_over or self._making.acquire(timeout=_LOOK_S):
            self._making.release()

    def _once(self, phase: Phase, do: Callable[[], None], node: int) -> None:
        """All pods are one cluster's: what is asked of each is done once, when it was asked of all."""
        self._asked[phase] = self._asked.get(phase, 0) + 1
        if self._asked[phase] == len(self._pods):
            _in_background(partial(self._answer, phase, do, node))

    def _answer(self, phase: Phase, do: Callable[[], None], node: int) -> None:
        try:
            do()
        except LaunchError as error:
            self._post(NodeFailed(0, f"the cluster cannot be used for this job: {error}"))
            if phase is not Phase.REACH:
                return
            nodes = [other for other in self._pods if other]
        else:
            nodes = list(self._pods)
        for each in nodes:
            self._post(Answered(each, phase))

    def _reach(self) -> None:
        """Rule 1."""
        said = self._kubectl.read("version", within_s=_ASKED_S)
        self._version = str(said.get("serverVersion", {}).get("gitVersion", ""))
        pods.number(self._version)
        for what in (("statefulsets.apps",), ("jobs.batch",), ("pods", "--subresource=exec")):
            removal.check_may(self._kubectl, "create", *what)
        removal.check_may(self._kubectl, "get", "pods", "--subresource=log")
        removal.check_may(self._kubectl, "list", "pods")

    def _make(self) -> None:
        first, *others = whole.objects(self._plan, self._version)
        with self._making:
            if self._is_left.is_set():
                return
            self._has_made = True  # unless it is refused: who is not answered knows nothing
            try:
                self._kubectl.ask("create", "-f", "-", given=whole.written([first]))
            except Refused:
                self._has_made = False
                raise
            self._kubectl.ask("create", "-f", "-", given=whole.written(others), within_s=300.0)

    def _watch(self) -> None:
        self._began = time.monotonic()
        _in_background(self._look_on)

    def _look_on(self) -> None:
        while not self._is_left.is_set():
            try:
                listed = self._kubectl.read("get", "pods", "-l", names.chosen(self._plan.name))
                self._take(watching.states(listed))
            except NodeError as error:  # the engine keeps the job, whether it answers or not
                self._tell_once(f"{error} {_GOES_ON}")
            except Exception as error:  # whatever it is, nobody is to wait for this launch for ever
                self._post(NodeFailed(0, f"{type(error).__name__}: {error}"))
                return
            self._is_left.wait(_LOOK_S)

    def _take(self, states: dict[str, PodState]) -> None:
        lacking = [role for role, pod in self._by_role.items() if pod.lacks and role not in states]
        why_none = self._why_not_again(lacking)
        for role, pod in self._by_role.items():
            pod.see(states.get(role), why_none.get(role, ""))
        waiting = {role: pod for role, pod in self._by_role.items() if not pod.has_begun}
        if waiting:
            self._tell_waiting(waiting, states)
        else:
            self._waiting = {}

    def _why_not_again(self, roles: list[str]) -> dict[str, str]:
        """Of these, whose pods are gone, those that their Job makes no other for, and why."""
        trainers = [role for role in self._plan.roles("trainer") if role.name in roles]
        if not trainers:
            return {}
        try:
            listed = self._kubectl.read("get", "jobs", "-l", names.chosen(self._plan.name))
        except NodeError:  # then it takes the longer time
            return {}
        failed = watching.failed_jobs(listed)
        found = {}
        for role in trainers:
            makers = names.group(self._plan.name, role.kind), names.pod(self._plan.name, role.kind, role.rank)
            of_it = [failed[maker] for maker in makers if maker in failed]
            found[role.name] = of_it[0] if of_it else "its Job is gone, too"
        return found

    def _tell_waiting(self, waiting: dict[str, Pod], states: dict[str, PodState]) -> None:
        """Rule 4."""
        past = self._waited(waiting)
        if len(states) < len(self._pods) and max(past.values()) > 2 * _LOOK_S:
            self._explain_missing()
        now = {role: states.get(role) for role in waiting}
        self._waits.count(now)
        final = [role for role, state in now.items() if self._waits.is_final(role, state)]
        late = [role for role in now if past[role] > self._plan.ready_timeout_s]
        if not (final or late):
            for text in self._waits.look(now, self._deadline()):
                self._tell_once(text)
            return
        first = (final or late)[0]
        longer = "" if final else ". --connect_timeout gives it longer"
        why = (self._waits.why(first, now[first]) or self._why_none(first)) + longer
        waiting[first].fail(f"after {past[first]:.0f} s {listed(self._waits.with_same(first, now))}: {why}")

    def _waited(self, waiting: Iterable[str]) -> dict[str, float]:
        """How long each has waited now: so does a pod that takes another's place in the midst of a job."""
        now = self._clock()
        self._waiting = {role: self._waiting.get(role, now) for role in waiting}
        return {role: now - since for role, since in self._waiting.items()}

    def _explain_missing(self) -> None:
        """Ask why pods are not made. Who may not read events waits as long, and is told less."""
        try:
            events = self._kubectl.read("get", "events")
        except NodeError as error:
            self._tell_once(f"why pods are not made cannot be asked: {error}")
            return
        for maker, why in watching.warnings(events, self._plan.name):
            self._tell_once(f"{maker}: {why}")
            self._refused[maker] = why

    def _deadline(self) -> str:
        return f". It may take {self._plan.ready_timeout_s:.0f} s in all (--connect_timeout)"

    def _why_none(self, role: str) -> str:
        """Why it has no pod, as the cluster said last of what was to make it."""
        pod = f"{self._plan.name}-{role}"
        why = [why for maker, why in self._refused.items() if f"{pod}-".startswith(f"{maker}-")]
        return f"its pod was not made: {why[-1]}" if why else _UNSAID

    def _tell_once(self, text: str) -> None:
        if (key := watching.key(text)) not in self._told:
            self._told.add(key)
            self._post(Told(self._plan.name, text))

    def _collect(self, node: int) -> None:
        pod = self._pods[node]
        try:
            if not self._began:  # nobody watches: one look
                listed = self._kubectl.read("get", "pods", "-l", names.chosen(self._plan.name))
                pod.know(watching.states(listed).get(pod.role))
            pod.collect()
        except Exception as error:  # whatever it is, others are collected, and this one is not waited for
            text = str(error) if isinstance(error, LaunchError) else f"{type(error).__name__}: {error}"
            self._post(NodeFailed(node, text))
        else:
            self._post(Answered(node, Phase.COLLECT))


def _in_background(do: Callable[[], None]) -> None:
    threading.Thread(target=do, daemon=True).start()
