"""How far a pod's log has been heard, by the time that stands before each line.

Pure. It must never know how lines come. Guarantee: of streams that each begin at or before ``since``, every
line is given once and in its order, also where several have one time, and where a clock is set back while one
stream lasts. Set back around a break, lines of the time between may come again.
"""

from __future__ import annotations

import re
from datetime import datetime

Moment = tuple[float, str]
_NO_LOGS = ("unable to retrieve container logs for ", "failed to try resolving symlinks in path ")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


class Heard:
    """``since``: the time of the last line, as it was written; empty before there was one."""

    def __init__(self) -> None:
        self.since = ""
        self._moment: Moment = (0.0, "")
        self._count = 0  # lines of that moment
        self._again = 0  # of these, how many come once more
        self._is_new = True
        self._remark = ""

    def begin(self) -> None:
        """Another stream begins, with nothing that is later than ``since`` left out."""
        self._is_new, self._again = not self.since, self._count

    def take(self, line: str) -> str | None:
        """Give what was printed, without its time; None where that was heard. What has no time is no line of
        the pod's but a remark of who sends them: it is given unless it only repeats the one before, or says
        that there are no lines, as of a container that is gone."""
        stamp, _, text = line.partition(" ")
        moment = _moment(stamp)
        if moment is None:
            repeats, self._remark = line == self._remark, line
            return None if repeats or line.startswith(_NO_LOGS) else line
        if not self._is_new and self._was_heard(moment):
            return None
        self._is_new = True
        self._count = self._count + 1 if moment == self._moment else 1
        self._moment, self.since = moment, stamp
        return text

    def _was_heard(self, moment: Moment) -> bool:
        if moment == self._moment and self._again:
            self._again -= 1
            return True
        return moment < self._moment


def _moment(stamp: str) -> Moment | None:
    """What compares as times do: zeros at the end of a fraction may be left out."""
    if not (found := _STAMP.fullmatch(stamp)):
        return None
    try:
        seconds = datetime.fromisoformat(found[1] + found[3]).timestamp()
    except ValueError:
        return None
    return seconds, (found[2] or "").ljust(9, "0")
