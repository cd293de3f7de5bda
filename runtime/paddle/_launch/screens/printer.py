"""A screen that keeps nobody waiting: a terminal may be paused, or a pipe be full, for hours.

It must never know what is shown. Whoever decides about a job shows through it, and goes on at once.

Guarantee: no call waits for who reads, but for ``close`` and what is said after it, and those only for
``patience_s`` together. What is shown was so when it was told, and comes in the order in which it was told.
What nobody reads is dropped, progress before lines, and how many lines is said. That a screen breaks is said
once; it costs what could not be shown, and what comes then is shown, as plain text.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable

from paddle._launch.board import Board
from paddle._launch.bulletins import OF_LOGS
from paddle._launch.news import Bulletin, Printed
from paddle._launch.screens.screen import Screen

MOST = 1000  # lines that wait to be read
_Item = str | Bulletin | tuple[Board, float] | Callable[[], None]  # a line, news, progress, or what ends it


class Printer:
    """Shows on ``screen``, in a thread of its own. ``with_logs``: what roles print, too; ``plain``: where to
    show should ``screen`` break, if not there again."""

    def __init__(
        self,
        screen: Screen,
        patience_s: float = 2.0,
        *,
        with_logs: bool = False,
        plain: Screen | None = None,
    ) -> None:
        self._screen, self._plain = screen, plain
        self._is_broken = False
        self._with_logs = with_logs
        self._patience_s = patience_s
        self._todo: deque[_Item] = deque()
        self._lines = self._lost = 0  # that wait, and that nobody read
        self._is_busy = self._is_closed = False
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def say(self, text: str) -> None:
        """Show a line that stays, soon."""
        self._put_off(text)

    def tell(self, bulletin: Bulletin) -> None:
        """Tell news, soon, where the screen takes them: else they would take the place of lines."""
        is_wanted = self._with_logs if isinstance(bulletin, OF_LOGS) else self._screen.takes_news
        if is_wanted:
            self._put_off(bulletin)

    @property
    def takes_news(self) -> bool:
        """Whether the screen does."""
        return self._screen.takes_news

    def _put_off(self, item: str | Bulletin) -> None:
        with self._changed:
            self._todo.append(item)
            self._lines += _lines(item)
            while self._lines > MOST:
                self._lose()
            self._changed.notify_all()
            if self._is_closed:
                self._wait()

    def _lose(self) -> None:
        """Drop the oldest lines of roles, or else the oldest: what the launch says is rarer."""
        places = [place for place, item in enumerate(self._todo) if _lines(item)]
        place = next((place for place in places if isinstance(self._todo[place], OF_LOGS)), places[0])
        lost = _lines(self._todo[place])
        del self._todo[place]
        self._lines -= lost
        self._lost += lost

    def show(self, board: Board, now: float) -> None:
        """Show how far the trainers are, soon, in place of what was not shown yet."""
        with self._changed:
            self._todo = deque(item for item in self._todo if not isinstance(item, tuple))
            self._todo.append((board.copy(), now))  # its owner goes on, and may tell a line before that
            self._changed.notify_all()

    @property
    def is_gone(self) -> bool:
        """Whether whoever read it went away."""
        return self._screen.is_gone

    def fix(self) -> None:
        """Leave the progress as text that stays, soon."""
        with self._changed:
            self._todo.append(lambda: self._screen.fix())
            self._changed.notify_all()

    def close(self) -> None:
        """Leave the screen as text that stays, if somebody reads it now."""
        with self._changed:
            self._todo.append(lambda: self._screen.close())
            self._is_closed = True
            self._changed.notify_all()
            self._wait()

    def _wait(self) -> None:
        if not self._changed.wait_for(lambda: not self._todo and not self._is_busy, self._patience_s):
            self._patience_s = 0.0

    def _work(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._todo)
                self._is_busy = True
                lost, self._lost = self._lost, 0
                item = self._todo.popleft()
                self._lines -= _lines(item)
            try:
                if lost:
                    self._screen.say(f"... {lost} lines that nobody read are left out here")
                self._put(item)
            except Exception as error:  # of whatever draws: the launch is to be seen all the same
                self._go_on_plainly(error)

    def _go_on_plainly(self, error: Exception) -> None:
        """Show on the other screen from now on."""
        if self._is_broken:
            return
        self._is_broken, broken = True, self._screen
        self._screen = self._plain or broken
        with contextlib.suppress(Exception):
            if self._screen is not broken:
                broken.close()  # a terminal gets its cursor back
        with contextlib.suppress(Exception):
            self._screen.say(f"the display failed ({type(error).__name__}: {error}); the job goes on")

    def _put(self, item: _Item) -> None:
        match item:
            case str(text):
                self._screen.say(text)
            case (board, now):
                self._screen.show(board, now)
            case _ if callable(item):
                item()
            case bulletin:
                self._screen.tell(bulletin)


def _lines(item: _Item) -> int:
    """How many lines it comes to on a screen, about."""
    if isinstance(item, Printed):
        return len(item.lines)
    return 0 if isinstance(item, tuple) or callable(item) else 1
