"""The board of a launch: the state of every role, and how far each trainer is, as far as it has said.

It must never know a clock, a screen or a file. It is made of bulletins alone, so whoever hears them all, here
or in another process, has the same one.

States of a role: ``waits`` until it is started, or started again, ``starts``, ``serves`` (a pserver that is
ready), ``trains`` (a trainer that has said how far it is), ``ended``, ``failed``, ``stopped`` (once the
launch ends it).

Programs of fluid and fleet have loops of their own, and no trainer of theirs says how far it is: of these the
board has the last line that each printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from paddle._launch.news import Bulletin, Changed, Placed, Printed, Progress, Restarted, Sent, Waiting
from paddle._launch.plan import LaunchPlan
from paddle._launch.sending import Sending

_MEANT = 25  # reports that a cost is the mean of: they come five times a second at most
_SINGLY = 4  # trainers that a plain line shows one by one
_LONGEST = 100  # letters of what one of them printed
GOES_ON = ("starts", "serves", "trains")
_BEGUN = (*GOES_ON, "ended")
_ORDINARY = ("waits", *GOES_ON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One role. What a trainer has not said yet is None; ``cost``: the mean over its last reports."""

    node: int
    address: str
    role: str
    kind: str
    rank: int
    state: str = "waits"
    pass_id: int | None = None
    batch_id: int | None = None
    cost: float | None = None
    samples_per_s: float | None = None
    restarts: int = 0
    exit_status: int | None = None

    @property
    def is_ordinary(self) -> bool:
        """Whether there is nothing to look at."""
        return self.state in _ORDINARY and not self.restarts


def rows_of(plan: LaunchPlan) -> tuple[Row, ...]:
    """Give the rows of a launch that begins: pservers and trainers, by rank."""
    nodes = {node.node: node.address for node in plan.nodes}
    return tuple(
        Row(node=role.node, address=nodes[role.node], role=role.name, kind=kind, rank=rank)
        for kind in ("pserver", "trainer")
        for rank, role in enumerate(plan.roles(kind))
    )


class Board:
    """See the module's text. The cost of one batch hides where it goes; the mean over some does not."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = {row.role: row for row in rows}
        self._costs: dict[str, tuple[float, ...]] = {}
        self._printed: dict[str, str] = {}
        self._waiting: Waiting | None = None
        self._since_told = 0.0
        self.sending = Sending()

    def take(self, bulletin: Bulletin) -> None:
        """Take what is told of a role."""
        match bulletin:
            case Progress() if bulletin.role in self._rows:
                self._progressed(bulletin)
            case Printed(role, lines) if role in self._rows:
                last = next(filter(None, map(str.strip, reversed(lines))), "")
                self._printed[role] = last or self._printed.get(role, "")
            case Placed(role, address) if role in self._rows:
                self._rows[role] = replace(self._rows[role], address=address)
            case Sent():
                self.sending.add(bulletin)
            case Waiting():
                self._wait(bulletin)
            case Changed(role, state, status) if role in self._rows:
                row = replace(self._rows[role], state=state, exit_status=status)
                self._rows[role] = replace(row, samples_per_s=None) if state == "waits" else row
            case Restarted(role) if role in self._rows:
                row = self._rows[role]
                self._rows[role] = replace(row, restarts=row.restarts + 1)

    def copy(self) -> Board:
        """What it says now, whatever is added to it later."""
        copied = Board(self.rows())
        copied._costs, copied._printed = self._costs.copy(), self._printed.copy()
        copied._waiting, copied._since_told = self._waiting, self._since_told
        copied.sending = self.sending.copy()
        return copied

    def silent(self) -> Board:
        """The same for who sees anyway what roles print."""
        copied = self.copy()
        copied._printed = {}
        return copied

    def row(self, role: str) -> Row | None:
        """Give the row of a role."""
        return self._rows.get(role)

    def rows(self) -> list[Row]:
        """Give all rows: pservers, then trainers, by rank."""
        return list(self._rows.values())

    def moving(self) -> list[Row]:
        """Give the rows of trainers that have said how far they are."""
        return [row for row in self._rows.values() if row.batch_id is not None]

    def printing(self) -> list[str]:
        """Give what trainers printed last, those that go on or ended well and do not say how far they are:
        of many only the first one's."""
        rows = [row for row in self._rows.values() if row.kind == "trainer" and row.state in _BEGUN]
        silent = [row for row in rows if row.batch_id is None and self._printed.get(row.role)]
        of = f" of {len(rows)}" if len(rows) > _SINGLY else ""
        shown = silent[:1] if of else silent
        return [f"{row.role}{of}: {' '.join(self._printed[row.role].split())[:_LONGEST]}" for row in shown]

    @property
    def together(self) -> str:
        """How fast several trainers are together; empty where that says nothing new."""
        rows = self._going_on()
        return f"{_rate(rows)} of {len(rows)} trainers" if len(rows) > 1 else ""

    @property
    def waiting(self) -> str:
        """For whom the others wait, and how long they have; empty when nobody does."""
        return _waits(self._waiting)

    def line(self) -> str:
        """Say it all in one line, empty when nothing was reported yet. While all wait it changes rarely."""
        return " | ".join(filter(None, [self._line(), _waits(self._waiting, self._since_told)]))

    def _progressed(self, progress: Progress) -> None:
        costs = (*self._costs.get(progress.role, ())[1 - _MEANT :], progress.cost)
        self._costs[progress.role] = costs
        row = self._rows[progress.role]
        self._rows[progress.role] = replace(
            row,
            state="trains" if row.state in _ORDINARY else row.state,
            pass_id=progress.pass_id,
            batch_id=progress.batch_id,
            cost=sum(costs) / len(costs),
            samples_per_s=progress.samples_per_s,
        )
        self._waiting = None

    def _wait(self, waiting: Waiting) -> None:
        """Nothing goes on: others wait for some trainers. The next progress ends that."""
        same = self._waiting is not None and self._waiting.trainers == waiting.trainers
        if not same or waiting.seconds >= 2 * self._since_told:
            self._since_told = waiting.seconds
        self._waiting = waiting

    def _going_on(self) -> list[Row]:
        """Those that move; a job may go on without some that failed."""
        moving = self.moving()
        return [row for row in moving if row.state != "failed"] or moving

    def _line(self) -> str:
        rows = self._going_on()
        if not rows:
            return " | ".join(self.printing()) or self.sending.line()
        rate = _rate(rows)
        if len(rows) <= _SINGLY:
            parts = [
                f"{row.role} pass {row.pass_id} batch {row.batch_id} cost {row.cost:.4f}" for row in rows
            ]
            return " | ".join([*parts, rate])
        costs = [row.cost for row in rows if row.cost is not None]
        places = sorted((row.pass_id or 0, row.batch_id or 0) for row in rows)
        (first_pass, first), (last_pass, last) = places[0], places[-1]
        return (
            f"{len(rows)} trainers from pass {first_pass} batch {first} to pass {last_pass} batch {last} | "
            f"cost {min(costs):.4f} to {max(costs):.4f} | {rate}"
        )


def _rate(rows: Sequence[Row]) -> str:
    rates = [row.samples_per_s or 0.0 for row in rows]
    return f"{sum(rate for rate in rates if isfinite(rate)):,.0f} samples/s"


def _waits(waiting: Waiting | None, seconds: float | None = None) -> str:
    if waiting is None:
        return ""
    seconds = waiting.seconds if seconds is None else seconds
    return f"waiting for {', '.join(waiting.trainers)} for {seconds:.0f} s"
