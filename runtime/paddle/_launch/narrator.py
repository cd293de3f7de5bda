"""The narrator of a launch: what is shown of it, and what it leaves to read while it runs.

It must never decide, nor know how a node is reached: it reads the supervisor and tells it nothing. People
hear lines and see the board, programs get all news (news.py), and the keeper has what roles print.

Guarantee: no call waits, neither for who reads nor for the disk of the results.
"""

from __future__ import annotations

import textwrap
from functools import partial

from paddle._launch import logs
from paddle._launch.board import GOES_ON, Board, rows_of
from paddle._launch.cause import Cause
from paddle._launch.kubernetes import names
from paddle._launch.news import (
    Bulletin,
    Changed,
    Entered,
    Grown,
    News,
    Printed,
    Progress,
    Restarted,
    Told,
)
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan, count
from paddle._launch.results.keeper import Keeper
from paddle._launch.screens.screen import Screen
from paddle._launch.supervisor import Supervisor
from paddle._visible import visible

_MOST_OF_CLUSTERS = 120  # letters of what a cluster says
_ALONE_S = 10.0  # what servers say of trainers that came has arrived long before
_ALONE = (
    "each trainer trains alone: none has connected to the pservers. "
    "In v2 that takes trainer.SGD(..., is_local=False)"
)
_WHAT_THEN = {Phase.COLLECT: "; what is being collected still arrives", Phase.END: ""}


class Narrator:
    """Of one launch. ``now``, here and below: seconds, when it is told."""

    def __init__(
        self, plan: LaunchPlan, screen: Screen, keeper: Keeper, supervisor: Supervisor, now: float
    ) -> None:
        self._plan, self._screen, self._keeper, self._supervisor = plan, screen, keeper, supervisor
        self._board = Board(rows_of(plan))
        self._tails = logs.Tails(names.OWN if plan.pods is not None else "")
        self._printed: set[str] = set()  # who has begun, where only the engine knows when
        self._together: set[str] = set()  # who starts again with the whole job: no line for each
        self._took: list[str] = []  # of each phase that is over, in words
        self._began = self._since = self._training_since = now
        self._stepping_since: float | None = None  # in this life of the job
        self._told_alone = False

    def last_lines(self, role: str) -> tuple[str, ...]:
        """Give the last lines that a role printed."""
        return self._tails.of(role)

    def show(self, now: float) -> None:
        """Show how far it is, and what the keeper has to say."""
        self.pass_on()
        if self._supervisor.phase < Phase.FINISH:
            self._screen.show(self._board, now)

    def take(self, news: News, now: float) -> None:
        """Take news from nodes."""
        is_kept = self._supervisor.phase < Phase.COLLECT  # what is collected takes the place of what arrived
        match news:
            case Printed(role, lines):
                self._printed.add(role)
                self._tails.add(role, lines)
                if is_kept:
                    self._keeper.add(role, lines)
            case Grown(node, file, text):
                if is_kept:
                    self._keeper.grow(node, file, text)
                return
            case Progress():
                if not self._board.moving():
                    self._tell_first_step(now)
                self._stepping_since = now if self._stepping_since is None else self._stepping_since
                self._tell_alone(now)
                self._keeper.mark(news, now - self._training_since)
            case Restarted(source, text) | Told(source, text):
                self._screen.say(f"{source}: {visible(text)}")
        self._tell(news)

    def exited(self, role: str, status: int) -> None:
        """A role has ended."""
        is_over = self._supervisor.phase >= Phase.REST
        self._tell(Changed(role, "stopped" if is_over else "failed" if status else "ended", status))

    def changed(self, role: str, state: str) -> None:
        """A role is in another state."""
        if state == "starts" and role in self._together:
            self._together.remove(role)
        elif state == "starts" and (row := self._board.row(role)) and row.restarts:
            self._screen.say(f"starting {role} again")
        self._tell(Changed(role, state))

    def begin_again(self) -> None:
        """All roles are over, and start again with the whole job."""
        self._stepping_since = None
        self._together = {row.role for row in self._board.rows()}
        for row in self._board.rows():
            self._tell(Restarted(row.role, "the whole job begins again"))
            self._tell(Changed(row.role, "waits"))

    def tell_cause(self, cause: Cause, now: float) -> None:
        """Say why it ends. What failed before anything ran is said once, when all is over."""
        self._screen.show(self._board, now)
        self._screen.fix()
        if Phase.SERVE in self._supervisor.history or cause.signum is not None:
            what_then = _WHAT_THEN.get(self._supervisor.phase, "; stopping every process")
            self._screen.say(visible(self._where(cause).rstrip(".")) + what_then)

    def enter(self, phase: Phase, now: float) -> None:
        """Another phase begins."""
        took, self._since = now - self._since, now
        self._took.append(f"{self._supervisor.history[len(self._took)].name.lower()} {took:.1f}")
        self._tell(Entered(phase.name.lower(), round(now - self._began, 3)))
        is_first = self._supervisor.history.count(phase) == 1  # else in a later life of the job
        match phase:
            case Phase.DELIVER if self._plan.package is not None and is_first:
                self._screen.say(f"sending the workspace to {count(len(self._plan.nodes), 'node')}")
            case Phase.SERVE:
                if is_first:
                    self._keeper.begin(partial(logs.clear, self._plan.home, self._plan.id))
                self._screen.say(f"starting {count(len(self._plan.roles('pserver')), 'pserver')}")
            case Phase.TRAIN:
                if is_first:
                    self._training_since = now
                    self._keeper.train()
                trainers = count(len(self._plan.roles("trainer")), "trainer")
                self._screen.say(f"pservers ready after {took:.1f} s; starting {trainers}")
            case Phase.FINISH:
                self._finish(took)
            case Phase.COLLECT if Phase.SERVE in self._supervisor.history:
                self._screen.say("collecting results")
            case Phase.KILL:
                self._screen.say("killing what is left")

    def pass_on(self) -> None:
        """Say what the keeper has to say."""
        for text in self._keeper.said():
            self._screen.say(text)

    def _finish(self, took: float) -> None:
        self._screen.show(self._board, float("inf"))
        self._screen.fix()
        but = self._supervisor.spared.told
        self._screen.say(f"trainers succeeded after {took:.1f} s{but}")
        if not self._supervisor.has_met:
            self._tell_alone(float("inf"))
            self._screen.say("no trainer has connected to the pservers: stopping them")

    def tell_gone(self) -> None:
        """Nothing of the launch is left. What went with its pod, of which no end was heard, goes on no more;
        whose pod never began waits as before."""
        for row in self._board.rows() if self._plan.pods is not None else ():
            if row.state in GOES_ON:
                is_begun = row.state != "starts" or row.role in self._printed
                self._tell(Changed(row.role, "stopped" if is_begun else "waits"))

    def _tell_first_step(self, now: float) -> None:
        took, in_all = now - self._training_since, now - self._began
        phases = ", ".join([*self._took, f"train {took:.1f}"])
        self._screen.say(f"first step after {took:.1f} s, {in_all:.1f} s in all: {phases}")

    def _tell_alone(self, now: float) -> None:
        """Say once that trainers make steps and no server knows of it."""
        since = self._stepping_since
        if since is None or self._supervisor.has_met or self._told_alone:
            return
        if now - since > _ALONE_S:
            self._told_alone = True
            self._screen.say(_ALONE)

    def _tell(self, bulletin: Bulletin) -> None:
        self._board.take(bulletin)
        self._screen.tell(bulletin)

    def _where(self, cause: Cause) -> str:
        node = next((node for node in self._plan.nodes if node.node == cause.node), None)
        if node is None or (self._plan.pods is not None and cause.role is None):  # it is the cluster's, then
            return textwrap.shorten(cause.text, _MOST_OF_CLUSTERS, placeholder=" ...")  # all of it comes last
        return f"node {node.node} ({self.place(cause.role) or node.address}): {cause.text}"

    def place(self, role: str | None) -> str:
        """Where a role is, under the name that is of use there; empty where no role is meant."""
        row = self._board.row(role) if role else None
        return row.address if row else ""
