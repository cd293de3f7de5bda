"""The supervisor: what a job does next, and when it is over.

A state machine without I/O: events go in, actions come out, the time is an argument. It must never know how a
node is reached or a process started; it knows nodes and roles by name only.

Rules:

1.  The phases of a launch follow each other: REACH, DELIVER, OPEN, SERVE, TRAIN, FINISH, SETTLE, REST, STOP,
    KILL, COLLECT, END. A phase is left forwards only, but for REST.
2.  REACH, DELIVER and OPEN ask every node for one step, and the next phase begins when all have answered: no
    node is changed before all were reached, no role is started before all agents are up. In REACH one that
    fails has answered, too: all that is wrong is told at once.
3.  SERVE starts every pserver and ends when all are ready. TRAIN starts every trainer and ends when all have
    ended well. FINISH waits for the pservers to end by themselves, if a trainer ever joined them; those that
    do not are stopped, which is no failure.
4.  Failures lead to STOP: a role that ends with a status other than 0; a trainer that ends well, but others
    wait for it (unsaid.py); a pserver that ends before TRAIN, or says that the job broke; a node that says
    so, whose agent ends unasked, or that is silent for too long; a phase that takes longer than its limit.
5.  INT, TERM and HUP lead to STOP. In STOP they lead to KILL, and after that to END. In COLLECT the first one
    only decides the status, if nothing has. Where ``most_signals`` came, INT and TERM lead to END at once.
6.  STOP tells every node to stop, whatever it does, and KILL those that have not ended in time. What outlives
    KILL is given up, so that the launcher always ends.
7.  COLLECT fetches the logs of every node whose agent was up, whatever happened there.
8.  The exit status is that of the first cause: of a role its own, 128 + n for signal n, 1 for a node; else 0.
9.  From TRAIN and FINISH a role's failure leads to STOP through SETTLE, in which the others may end, too, and
    say why. It lasts until the cause is clear (cause.py), or its limit, or all trainers have ended, and all
    pservers, if a trainer ever joined one, or said that the job broke. The roles' failure came first.
10. Who asks from elsewhere that the job be stopped is obeyed as TERM is, with the grace that was asked for.
    Asking again changes nothing; asking to kill leads to KILL at once, and never further.
11. In TRAIN and FINISH a role whose end may be made up for (restarts.py) is started again after its pause,
    and that is no failure, nor is the end of one that had nothing left to do. It is started only after its
    end was told, and once for each, so that there are never two of it.
12. In TRAIN a trainer that fails all the same is no failure of the job while ``min_trainers`` others run: it
    goes on without that one, as pservers do, which are told; but not without the first, once others look for
    it in vain to meet there. In STOP pservers are told whose end is the cause.
13. In TRAIN, and from DELIVER on in a later life, what lives.py names is no failure either: the whole job
    begins again. REST stops all that goes on, as STOP and KILL do, and lasts for the pause; then a new life
    begins with REACH, and of the one before nothing is heard any more.
14. In REACH of a later life a node that does not answer is asked again, until its limit is over: it may have
    been cut off, and its agent end by its lease. Then that is a failure.
15. A node that is lost in FINISH, when all trainers have ended well, is no failure, but for that of the first
    trainer, which has the model.
16. In TRAIN a trainer that comes to meet others when the first has ended well is one that fails, as it was
    killed if it was started again; while ``min_trainers`` others run it is left to see that by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from signal import SIGHUP, SIGTERM, Signals

from paddle._launch import events
from paddle._launch.actions import Action, BeginAgain, Kill, StartRole, Step, Stop, Tell
from paddle._launch.again.absent import Absent
from paddle._launch.again.lives import Lives
from paddle._launch.again.remedies import Remedies, Remedy
from paddle._launch.again.restarts import Restarts
from paddle._launch.cause import OF_AGENT, Blame, Cause, end_of, late_nodes, late_pservers, stopped
from paddle._launch.phases import Limits, Phase

_SKIPPING = {Phase.FINISH: Phase.STOP, Phase.SETTLE: Phase.STOP, Phase.STOP: Phase.COLLECT}


class Supervisor:
    """One launch. ``pservers`` and ``trainers``: the node of each role, by its name. ``meets_at_first``:
    trainers meet, if they do, at the first of them, and nowhere else (_pserver/parley)."""

    def __init__(
        self,
        nodes: Sequence[int],
        pservers: Mapping[str, int],
        trainers: Mapping[str, int],
        limits: Limits | None = None,
        restarts: Restarts | None = None,
        min_trainers: int = 0,
        lives: Lives | None = None,
        *,
        meets_at_first: bool = True,
    ) -> None:
        self.phase, self._since = Phase.REACH, 0.0
        self.history: list[Phase] = []  # every phase that was entered, however shortly it lasted
        self.cause: Cause | None = None
        self._nodes = tuple(nodes)
        self._pservers, self._trainers = dict(pservers), dict(trainers)
        self._node_of = self._pservers | self._trainers
        self._limits = limits or Limits()
        self._blame, self._absent = Blame(self._node_of), Absent()
        self._restarts, self._lives = restarts or Restarts(), lives or Lives()
        known = self._blame, self._restarts, self._lives
        self._remedies = Remedies(pservers, trainers, *known, min_trainers, meets_at_first=meets_at_first)
        self.spared = self._remedies.spared
        self.has_met = False  # whether any trainer has come to a pserver
        self._waiting: set[int | str] = set()  # for whom the phase lasts: nodes or roles
        self._up: set[int] = set()
        self.unfit: dict[int, str] = {}  # nodes that cannot be used, and why
        self._over: set[int | str] = set()  # nodes and roles that have ended
        self._heard: dict[int, float] = {}
        self._is_collecting_on = self._is_forced = False  # after a signal; who is not at rest was killed
        self.is_hurried, self._signals = False, 0

    @property
    def exit_status(self) -> int:
        """The launcher's, by rule 8."""
        return self.cause.status if self.cause else 0

    def begin(self, now: float) -> list[Action]:
        """Give the first actions."""
        return self._enter(Phase.REACH, now)

    def handle(self, event: events.Event, now: float) -> list[Action]:
        """Take one event; gives what is to be done."""
        match event:
            case events.Tick():
                return self._look_at_clock(now)
            case events.Signalled(signum):
                return self._signalled(signum, now)
            case events.StopAsked():
                return self._asked_to_stop(event, now)
            case events.Heard(node):
                self._heard[node] = now
            case events.Answered(node, phase):
                self._heard[node] = now
                if phase is Phase.OPEN:
                    self._up.add(node)
                return self._arrived(node, now) if phase is self.phase else []
            case events.RoleReady(role):
                return self._arrived(role, now) if self.phase is Phase.SERVE else self.spared.again(role)
            case events.RoleJoined():
                self.has_met = self._lives.has_met = True
            case events.JobBroke(role, culprits, reason):
                if Phase.TRAIN <= self.phase <= Phase.SETTLE:
                    self._blame.told(role, culprits, reason)
                    self.spared.add_to(self._blame, culprits, f"{role}: {reason}")
                    return self._settle(now)
            case events.RoleMeets():
                return self._met(event, now)
            case events.Missed(roles) if self.phase < Phase.SETTLE:
                return self._missed(self.spared.unsaid.first(roles, now), now)
            case events.Barred() | events.ShardRestarted():
                ends = self._restarts.told(event)
                return [action for role, how in ends for action in self._exited(role, how, now)]
            case events.RoleExited(role, status, why):
                self._blame.note(role, why)
                return self._exited(role, status, now)
            case events.NodeFailed(node, text):
                return self._failed(node, text, now)
            case events.NodeEnded(node, text):
                return self._ended(node, text, now)
        return []

    def _enter(self, phase: Phase, now: float) -> list[Action]:
        self.phase, self._since = phase, now
        self.history.append(phase)
        if phase is Phase.END:
            return []
        actions = self._ask(phase, now)
        return actions if self._waiting else actions + self._leave(now)

    def _ask(self, phase: Phase, now: float) -> list[Action]:
        """What is asked for in a phase, and for whom it lasts."""
        match phase:
            case Phase.REACH | Phase.DELIVER | Phase.OPEN:
                self._waiting = set(self._nodes)
                return [Step(node, phase) for node in self._nodes]
            case Phase.SERVE:
                self._heard = dict.fromkeys(self._nodes, now)
                self._waiting = set(self._pservers)
                return [StartRole(role) for role in self._pservers]
            case Phase.TRAIN:
                self._waiting = set(self._trainers)
                return [StartRole(role) for role in self._trainers]
            case Phase.FINISH:
                self._waiting = {role for role in self._pservers if self.has_met and role not in self._over}
            case Phase.SETTLE:
                self._waiting = {*self._unsettled()}
            case Phase.REST | Phase.STOP:
                self._is_forced = False
                if phase is Phase.STOP:
                    self.cause = self.cause or self._blame.cause()
                self._waiting = {node for node in self._nodes if node not in self._over}
                stops = [Stop(node, self._limits.grace_s) for node in self._nodes if node in self._waiting]
                return [*self.spared.tell_cause(self.cause, self._remedies.serving(self._over)), *stops]
            case Phase.KILL:
                return [Kill(node) for node in self._nodes if node in self._waiting]
            case Phase.COLLECT:
                self._waiting = set(self._up)
                return [Step(node, phase) for node in self._nodes if node in self._up]
        return []

    def _leave(self, now: float) -> list[Action]:
        """Go on from a phase that waits for nobody any more."""
        if self.phase is Phase.REACH and self.unfit:
            node = min(self.unfit)
            return self._fail(Cause(status=1, text=self.unfit[node], node=node), now)
        if self.phase is Phase.REST:
            return self._begin_again(now) if self._lives.is_due(now) else []
        return self._enter(_SKIPPING.get(self.phase) or Phase(self.phase + 1), now)

    def _arrived(self, who: int | str, now: float) -> list[Action]:
        if who not in self._waiting:
            return []
        self._waiting.remove(who)
        return [] if self._waiting else self._leave(now)

    def _fail(self, cause: Cause, now: float) -> list[Action]:
        self.cause = self.cause or self._blame.cause() or cause
        return self._enter(Phase.STOP, now) if self.phase < Phase.STOP else []

    def _signalled(self, signum: int, now: float) -> list[Action]:
        before, self._signals = self.phase, self._signals + (signum != SIGHUP)  # which comes twice
        self.is_hurried = self._signals >= self._limits.most_signals
        actions = self._fail(stopped(signum, Signals(signum).name), now)
        if before < Phase.STOP or before is Phase.END:
            return actions
        if before is Phase.COLLECT and not (self._is_collecting_on or self.is_hurried):
            self._is_collecting_on = True
            return []
        return self._enter(Phase.KILL if before is Phase.STOP and not self.is_hurried else Phase.END, now)

    def _asked_to_stop(self, asked: events.StopAsked, now: float) -> list[Action]:
        """Rule 10."""
        actions: list[Action] = []
        if self.phase < Phase.STOP:
            if asked.grace_s is not None:
                self._limits = self._limits.with_grace(asked.grace_s)
            actions = self._fail(stopped(SIGTERM, asked.by or "request"), now)
        if asked.is_killing and self.phase is Phase.STOP:
            actions += self._enter(Phase.KILL, now)
        return actions

    def _settle(self, now: float) -> list[Action]:
        """Rule 9, with what is known now."""
        if self.phase < Phase.SETTLE:
            return self._enter(Phase.SETTLE, now)
        return [] if self._unsettled() else self._leave(now)

    def _unsettled(self) -> set[str]:
        """Of whom rule 9 waits for the end, or a word."""
        return self._blame.awaited(self._trainers, self._pservers if self.has_met else (), self._over)

    def _exited(self, role: str, status: int, now: float) -> list[Action]:
        self._over.add(role)
        if self.phase >= Phase.REST:
            return []
        if self.phase < Phase.TRAIN:
            return self._exited_early(role, status, now)
        if status and self.phase < Phase.SETTLE and (actions := self._made_up_for(role, status, now)):
            return actions
        self._blame.ended(role, status)
        if status or self.phase is Phase.SETTLE:
            return self._settle(now)
        self.spared.unsaid.ended(role, now)
        return self._arrived(role, now)

    def _made_up_for(self, role: str, status: int, now: float) -> list[Action]:
        """Rules 11 to 13; nothing where it is a failure."""
        return self._take(self._remedies.of_role(role, status, self.phase, self._over, now), now, role)

    def _take(
        self, remedy: Remedy | None, now: float, role: str = "", lost: Mapping[int, str] | None = None
    ) -> list[Action]:
        """What follows of a remedy; nothing where there is none."""
        if remedy is None:
            return []
        if remedy.ends_life:
            self._absent.clear(lost)
            return [*remedy.actions, *self._enter(Phase.REST, now)]
        return [*remedy.actions, *(self._arrived(role, now) if remedy.ends_role else ())]

    def _missed(self, role: str, now: float) -> list[Action]:
        """Rule 4, of a trainer; empty where nobody is missed."""
        if role and not (actions := self._made_up_for(role, 0, now)):
            self._blame.quit(role)
            return self._settle(now)
        return actions if role else []

    def _met(self, met: events.RoleMeets, now: float) -> list[Action]:
        """Rules 11, 12 and 16: who has met is not started again; without the host nobody can meet."""
        if (missed := self._remedies.missed(met, self.phase, self._over, now)) is None:
            return []
        role, status, why = missed
        if actions := self._again_with(role, status, now, "" if role in self._over else why):
            return actions
        self._blame.missed(role, status, why)
        return self._settle(now)

    def _again_with(self, role: str, status: int, now: float, why: str = "") -> list[Action]:
        """Rule 13, of a role that cannot come back alone; nothing where it is a failure."""
        return self._take(self._remedies.of_killed(role, status, self.phase, now, why), now)

    def _exited_early(self, role: str, status: int, now: float) -> list[Action]:
        if status == 0 and role not in self._pservers:
            return []
        if actions := self._again_with(role, status, now):
            return actions
        when = " before it was ready" if role in self._waiting else ""
        why = self._blame.noted(role)
        return self._fail(end_of(role, self._node_of[role], status, when=when, detail=why), now)

    def _failed(self, node: int, text: str, now: float) -> list[Action]:
        if self.phase is Phase.REACH and self._lives.number > 1:
            again = f"{text.rstrip('.')}; it is asked again"
            return [Tell(f"node {node}", again)] if self._absent.add(node, text, now) else []
        if self.phase is Phase.REACH:
            self.unfit[node] = text
            return self._arrived(node, now)
        if self.phase in (Phase.REST, Phase.STOP, Phase.KILL, Phase.END):
            return []
        is_collected = self.phase is Phase.COLLECT  # as far as it can be
        return self._lose(node, text, now) + (self._arrived(node, now) if is_collected else [])

    def _ended(self, node: int, text: str, now: float) -> list[Action]:
        self._over.add(node)
        if self.phase in (Phase.REST, Phase.STOP, Phase.KILL):
            return self._arrived(node, now)
        reason = f"its agent ended unasked{': ' + text if text else OF_AGENT}"
        return self._lose(node, reason, now) if self.phase < Phase.STOP else []

    def _lose(self, node: int, text: str, now: float) -> list[Action]:
        """A node, or its agent, is lost: rules 4, 13 and 15."""
        if self.phase is Phase.FINISH and node != next(iter(self._trainers.values()), None):
            return self._do_without(node, text, now)
        remedy = self._remedies.of_node(node, text, self.phase, now)
        if isinstance(remedy, str):
            return self._fail(Cause(status=1, text=remedy, node=node), now)
        return self._take(remedy, now, lost={node: text})

    def _do_without(self, node: int, text: str, now: float) -> list[Action]:
        """Rule 15."""
        self._heard.pop(node, None)
        self._waiting -= {role for role, at in self._pservers.items() if at == node}
        told = Tell(f"node {node}", f"{text}; all trainers have ended well, so the job goes on without it")
        return [told] if self._waiting else [told, *self._leave(now)]

    def _await_rest(self, now: float) -> list[Action]:
        """Rule 13: until nothing goes on any more, or only what cannot be ended, and the pause is over."""
        past, limits = now - self._since, self._limits
        if past > limits.stop_s + limits.kill_s:
            self._waiting.clear()
        elif past > limits.stop_s and self._waiting and not self._is_forced:
            self._is_forced = True
            return [Kill(node) for node in self._nodes if node in self._waiting]
        return [] if self._waiting else self._leave(now)

    def _begin_again(self, now: float) -> list[Action]:
        self._over.clear()
        self._blame.begin_again()
        self.has_met = False
        return [BeginAgain(self._remedies.begin_again()), *self._enter(Phase.REACH, now)]

    def _look_at_clock(self, now: float) -> list[Action]:
        is_return = self.phase is Phase.REACH and self._lives.number > 1
        limit = self._limits.return_s if is_return else self._limits.of(self.phase)
        if limit is not None and now - self._since > limit:
            return self._too_late(limit, now)
        if self.phase is Phase.REST:
            return self._await_rest(now)
        if self.phase is Phase.REACH:
            return [Step(node, Phase.REACH) for node in self._absent.due(now)]
        if Phase.SERVE <= self.phase < Phase.REST:
            for node, heard in self._heard.items():
                if now - heard > self._limits.silence_s:
                    return self._lose(node, f"nothing was heard from it for {now - heard:.0f} s", now)
        return self._start_again(now) if self.phase in (Phase.TRAIN, Phase.FINISH) else []

    def _start_again(self, now: float) -> list[Action]:
        due = [role for role in self._restarts.due(now) if self._node_of[role] in self._heard]  # rule 15
        self._over.difference_update(due)
        return self.spared.start(due)

    def _too_late(self, limit: float, now: float) -> list[Action]:
        if self.phase >= Phase.FINISH:
            past = Phase.KILL if self.phase is Phase.STOP else _SKIPPING.get(self.phase)
            return self._enter(past or Phase(self.phase + 1), now)
        nodes = [node for node in self._nodes if node in self._waiting]
        if self.phase is Phase.REACH and self._lives.number == 1:
            self.unfit |= {node: late_nodes([node], limit).text for node in nodes}
            return self._leave(now)
        if nodes:
            return self._fail(late_nodes(nodes, limit, *self._absent.said(nodes[0])), now)
        return self._fail(late_pservers(self._pservers, self._waiting, limit), now)
