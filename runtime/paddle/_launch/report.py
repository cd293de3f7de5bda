"""What a process of a job tells the agent that started it: JSON, a line each, on the descriptor it was given.
And where it hears the agent, which has something to say to pservers and trainer 0 (_pserver/service/ear.py).

    {"report": "ready", "ports": [["127.0.0.1", 7164], ...]}
    {"report": "progress", "pass_id": 0, "batch_id": 12, "cost": 6.1, "samples_per_s": 5120.0}
    {"report": "message", "text": "waiting for ..."}
    {"report": "restarted", "shard": "...", "text": "its process 71 ..."}   a pserver: one of its processes
    {"report": "joined"}                                            a pserver: the first trainer is there
    {"report": "waiting", "trainers": [1], "seconds": 30.0}         a pserver: others wait for these
    {"report": "barred", "shard": "...", "ever": [1], "until_pass_ends": [], "left": []}
        a pserver: the trainers that are gone, and whose place in this shard no other process can take
    {"report": "broken", "reason": "...", "trainers": [1], "is_own": false}
    {"report": "meets", "finds_nobody": false}
        a trainer: it has met others of its job; or it comes to meet them, and finds nobody

It must never know who reads. Guarantee: it never raises, never waits for the reader and never slows training:
where nobody listens nothing happens, progress comes at most five times a second, and as it is in the end, and
a pipe that is full because the reader hangs loses reports, not steps.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache

_REPORTS, _NEWS = "PADDLE_REPORT_FD", "PADDLE_NEWS_FD"
_LONGEST_TEXT = 640  # at six bytes each, a line stays below the 4096 that a pipe takes whole or not at all
_LONGEST_NAME = 16
_BETWEEN_PROGRESS_S = 0.2


class Reporter:
    """Tells events to the descriptor ``fd``; ``None``: nobody listens. ``clock`` gives seconds. ``news``: by
    which this process hears; ``None``: nobody speaks."""

    def __init__(
        self, fd: int | None, clock: Callable[[], float] = time.monotonic, news: int | None = None
    ) -> None:
        self._fd, self.news = fd, news
        self._clock = clock
        self._next_progress_s = float("-inf")
        # How far training is, of which nothing was told: pass, batch, cost and samples per second.
        self._held: tuple[int, int, float, float] | None = None

    def ready(self, ports: Sequence[tuple[str, int]]) -> None:
        """Tell that this process listens on these addresses."""
        self._tell({"report": "ready", "ports": [list(port) for port in ports]})

    def progress(self, *, pass_id: int, batch_id: int, cost: float, samples_per_s: float) -> None:
        """Tell how far training is; calls that come too fast are left out, but for the last one of all."""
        self._held = (pass_id, batch_id, cost, samples_per_s)
        if (now := self._clock()) >= self._next_progress_s:
            self._next_progress_s = now + _BETWEEN_PROGRESS_S
            self.settle()

    def settle(self) -> None:
        """Tell how far training is, if that was left out: nothing comes after it."""
        if self._held is not None:
            pass_id, batch_id, cost, samples_per_s = self._held
            figures = {"cost": float(cost), "samples_per_s": float(samples_per_s)}
            self._tell({"report": "progress", "pass_id": int(pass_id), "batch_id": int(batch_id), **figures})
            self._held = None

    def message(self, text: str) -> None:
        """Tell the user something in plain words."""
        self._tell({"report": "message", "text": text[:_LONGEST_TEXT]})

    def restarted(self, shard: str, text: str) -> None:
        """Tell that a process of this pserver was killed, and is started again."""
        self._tell({"report": "restarted", "shard": shard, "text": text[:_LONGEST_TEXT]})

    def joined(self) -> None:
        """Tell that a trainer has come to this pserver."""
        self._tell({"report": "joined"})

    def waiting(self, trainers: Sequence[int], seconds: float) -> None:
        """Tell for which trainers the others wait, and since when."""
        self._tell({"report": "waiting", "trainers": list(trainers), "seconds": round(seconds, 1)})

    def barred(
        self, shard: str, ever: Sequence[int], until_pass_ends: Sequence[int], left: Sequence[int]
    ) -> bool:
        """Tell of all trainers that are gone, and whose place in this shard no other process can take; gives
        whether it could be told."""
        whose = {"ever": list(ever), "until_pass_ends": list(until_pass_ends), "left": list(left)}
        return self._tell({"report": "barred", "shard": shard, **whose})

    def broken(self, reason: str, trainers: Sequence[int], *, is_own: bool, other: str = "") -> None:
        """Tell that the job broke: by these trainers, by this pserver, by ``other`` of another machine, or by
        none of them, as far as it knows."""
        who = {"trainers": list(trainers), "is_own": is_own, "other": other[:_LONGEST_NAME]}
        self._tell({"report": "broken", "reason": reason[:_LONGEST_TEXT], **who})

    def meets(self, finds_nobody: bool) -> bool:
        """Tell that this process has met others of its job, or looks for the place in vain; gives whether it
        could be told."""
        return self._tell({"report": "meets", "finds_nobody": finds_nobody})

    def _tell(self, event: dict[str, object]) -> bool:
        """Whether the reader has it, or there is none."""
        if self._fd is None:
            return True
        line = json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            os.write(self._fd, line)
        except BlockingIOError:
            return False  # the reader is behind; mostly the next event says more than this one
        except OSError:
            self._fd = None  # the reader is gone
        return True


def take(environ: MutableMapping[str, str], clock: Callable[[], float] = time.monotonic) -> Reporter:
    """Make the reporter that ``environ`` names, and take the names out of it.

    Its descriptors are this process's alone: a program that it starts must neither inherit one nor, finding
    the number in its environment, use whatever has that number there.
    """
    return Reporter(_descriptor(environ.pop(_REPORTS, "")), clock, _descriptor(environ.pop(_NEWS, "")))


def _descriptor(text: str) -> int | None:
    try:
        fd = int(text)
        os.set_inheritable(fd, False)
        os.set_blocking(fd, False)
    except (ValueError, OSError):
        return None
    return fd


@cache
def reporter() -> Reporter:
    """Give this process's own reporter, which tells in the end how far training has come."""
    own, me = take(os.environ), os.getpid()
    atexit.register(lambda: own.settle() if os.getpid() == me else None)  # no fork has anything to tell
    return own
