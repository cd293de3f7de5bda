"""The keeper of a launch's results: writes logs and the curve while the job runs, in a thread of its own.

It must never know what they mean, nor decide. The disk of the results may be another machine's, and stand
still for hours, while nodes wait for their beats and a user for what Ctrl+C does.

Guarantee: no call waits for the disk, but for ``finish``, and that only for its ``patience_s``. All is
written in the order in which it was told. What finds no room among ``most`` bytes that wait is left out; in
its place, once the disk takes something again, stands how many lines that were. That there were any is said
once.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from paddle._launch.news import Progress
from paddle._launch.plan import LaunchPlan
from paddle._launch.results.arriving import Arriving
from paddle._launch.results.curve import LossCurve

MOST = 1 << 24  # bytes
PATIENCE_S = 10.0  # after which a disk stands still
_PIECE = 200  # bytes that a piece takes, besides its text
_LINGERS_S = 1.0  # a thread that has nothing to write, before it ends


class _Piece(NamedTuple):
    """Something to do at the disk."""

    size: int
    do: Callable[[], object]


class Keeper:
    """Of one launch."""

    def __init__(self, plan: LaunchPlan, most: int = MOST) -> None:
        self._plan, self._most = plan, most
        self._todo: deque[_Piece] = deque()
        self._size = 0
        self._lost: Counter[str] = Counter()  # lines, of whom
        self._has_lost = False
        self._said: deque[str] = deque()
        self._done = self._seen = 0  # pieces; when somebody looked last
        self._seen_at = 0.0
        self.stands_still = False  # whether the disk does, as far as was looked
        self._is_busy = False  # with a piece
        self._is_working = self._is_broken = False
        self._changed = threading.Condition()
        self._arriving: Arriving | None = None
        self._curve: LossCurve | None = None
        self._drawn: Path | None = None

    # What happens

    def begin(self, clear: Callable[[], object]) -> None:
        """Roles are started: the results of the job before go, as ``clear`` has it."""
        self._arriving = Arriving(self._plan, self._said.append)
        self._put(_Piece(_PIECE, clear))

    def train(self) -> None:
        """Trainers are started: the curve begins."""
        self._put(_Piece(_PIECE, self._begin_curve))

    def add(self, role: str, lines: Sequence[str]) -> None:
        """A role has printed lines."""
        if arriving := self._arriving:
            size = sum(map(len, lines))
            self._offer(role, len(lines), size, lambda lost: arriving.add(role, (*lost, *lines)))

    def grow(self, node: int, file: str, text: str) -> None:
        """Something was added to a file of a node."""
        if arriving := self._arriving:
            self._offer(
                f"{node}/{file}",
                max(1, text.count("\n")),
                len(text),
                lambda lost: arriving.grow(node, file, "".join(f"\n{line}\n" for line in lost) + text),
            )

    def mark(self, progress: Progress, seconds: float) -> None:
        """A trainer is so far, ``seconds`` after training began."""
        self._offer("", 1, 0, lambda _: self._curve.add(progress, seconds) if self._curve else None)

    # How it stands

    @property
    def is_idle(self) -> bool:
        """Whether all that was told is written."""
        with self._changed:
            return not (self._todo or self._is_busy)

    def look(self, now: float) -> None:
        """See whether the disk moves; ``now``: seconds."""
        if self._done != self._seen or self.is_idle:
            self._seen, self._seen_at = self._done, now
        self.stands_still = now - self._seen_at > PATIENCE_S

    def said(self) -> Iterator[str]:
        """Give what the user should hear, once."""
        while self._said:
            yield self._said.popleft()

    def finish(self, patience_s: float) -> Path | None:
        """Draw the curve, where there is one; gives the file that shows it, where that is written in time."""
        if not self.stands_still and self._wait(PATIENCE_S):
            self._put(_Piece(_PIECE, self._draw))
            self._wait(patience_s)
        return self._drawn

    def _wait(self, patience_s: float) -> bool:
        """Wait until all is written, for ``patience_s`` at each piece."""
        while not self.is_idle:
            done = self._done
            with self._changed:
                if not self._changed.wait_for(lambda: self._done != done, patience_s):  # noqa: B023
                    self.stands_still = True
                    return False
        return True

    # What is done

    def _begin_curve(self) -> None:
        self._curve = LossCurve(self._plan.home / "log", self._said.append, self._plan.name)

    def _draw(self) -> None:
        self._drawn = self._curve.draw() if self._curve else None

    def _offer(self, whose: str, lines: int, size: int, write: Callable[[tuple[str, ...]], None]) -> None:
        """Write what is somebody's, behind what tells how much was left out, if there is room."""
        with self._changed:
            if self._size + size > self._most:
                self._lost[whose] += lines
                if not self._has_lost:
                    self._has_lost = True
                    self._said.append(
                        f"the disk of {self._plan.home / 'log'} does not take what comes in time: lines are "
                        "left out there, which is said where they are missing; nodes have them all"
                    )
                return
            lost = self._lost.pop(whose, 0)
        told = (f"... {lost} lines are left out here: the disk did not take them in time",) if lost else ()
        self._put(_Piece(size + _PIECE, partial(write, told)))

    def _put(self, piece: _Piece) -> None:
        with self._changed:
            self._todo.append(piece)
            self._size += piece.size
            self._changed.notify_all()
            if not self._is_working:
                self._is_working = True
                threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while piece := self._next():
            try:
                piece.do()
            except Exception as error:  # the job goes on, whatever is wrong with its results
                if not self._is_broken:
                    self._said.append(f"cannot keep all results: {type(error).__name__}: {error}")
                self._is_broken = True
            with self._changed:
                self._size -= piece.size
                self._done += 1
                self._is_busy = False
                self._changed.notify_all()

    def _next(self) -> _Piece | None:
        """Give what is to be done next; None where the thread may end."""
        with self._changed:
            self._is_working = self._changed.wait_for(lambda: bool(self._todo), _LINGERS_S)
            self._is_busy = self._is_working
            return self._todo.popleft() if self._is_working else None
