"""What an agent does at its node's disk, in a thread of its own: a disk may be another machine's, and stand
still for hours, while the launcher waits for beats and a lease runs out.

It must never know what is done. Guarantee: who puts something in goes on at once, and all of it is done in
order. No more than about ``MOST`` bytes wait: then there is no room, and who reads what roles print leaves it
in their pipes for a while, so that a disk that is slow costs no line. One that does nothing for ``STILL_S``
costs lines: what finds no room then is refused.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

MOST = 1 << 23
STILL_S = 5.0
_LOOK_S = 0.05


class Disk:
    """See the module's text."""

    def __init__(self) -> None:
        self._todo: deque[tuple[int, Callable[[], None]]] = deque()
        self._size = 0
        self._since = 0.0  # when what is being done was begun; 0 where nothing is
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    @property
    def stands_still(self) -> bool:
        """Whether it does."""
        since = self._since
        return since > 0 and time.monotonic() - since > STILL_S

    def has_room(self) -> bool:
        """Whether more may come, after a moment's wait for it. Of one that stands still nobody waits."""
        with self._changed:
            return self._changed.wait_for(lambda: self._size < MOST, _LOOK_S) or self.stands_still

    def put(self, do: Callable[[], None], size: int = 0) -> bool:
        """Have something done, soon; False where there is no room, and none to be hoped for. What has no
        size always has room."""
        with self._changed:
            if size and self._size >= MOST and self.stands_still:
                return False
            self._todo.append((size, do))
            self._size += size
            self._changed.notify_all()
        return True

    def finish(self, patience_s: float) -> bool:
        """Wait until all is done, but not for long; says whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._todo or self._since), patience_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._since = 0.0
                self._changed.notify_all()
                self._changed.wait_for(lambda: bool(self._todo))
                size, do = self._todo.popleft()
                self._since = time.monotonic()
            do()
            with self._changed:
                self._size -= size
