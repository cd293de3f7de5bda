"""What a program on a node says: answers, each a line with a sign before it, and bytes behind some of them.

It must never know what carries it, nor what is asked. The node may be anybody's. Guarantee, by four rules:

1. What is no answer, such as a login shell's greeting, is passed over; the last of it is kept, for who asks
   why nothing else came.
2. Beats cost nothing. All else is counted but the bytes behind answers: more than ``most`` bytes of answers
   are an error, as is a mebibyte of what is none, and no longer line than ``longest`` is kept.
3. An answer that does not come in time is an error, though something may come meanwhile.
4. An answer is what JSON has: no number in it is infinite, or none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from paddle._launch.agent.answers import BEAT, SIGN
from paddle._launch.errors import NodeUnfit
from paddle._launch.machines import refusals
from paddle._launch.machines.spool import Spool
from paddle._visible import visible

ANSWER_S = 60.0  # what does not take its time answers within that
WORK_S = 3600.0  # what does
MOST = 1 << 20  # bytes that a node has to say of itself
_CHUNK = 1 << 20
_BEAT = {"beat": 1}
_LAST_WORDS = 300
_SHOWN = 200


class Reader:
    """Of one program. ``read``: gives some bytes, at most so many, and none at their end."""

    def __init__(self, read: Callable[[int], bytes], *, most: int = MOST, longest: int | None = None) -> None:
        self._read = read
        self._left = most
        self._noise_left = MOST
        self._longest = most if longest is None else longest
        self._spool = Spool()
        self._said = b""

    def answer(self, within_s: float = ANSWER_S) -> Any:
        """Give the next answer; None where no more comes."""
        end = time.monotonic() + within_s
        while (line := self._line(end, within_s)) is not None:
            if line == BEAT:
                continue
            noise, sign, said = line.rpartition(SIGN)  # a greeting may end without a new line
            self._noise_left -= len(noise) if sign else len(said) + 1
            self._left -= len(said) + 1 if sign else 0
            if min(self._left, self._noise_left) < 0:
                raise _endless()
            if not sign:
                self._said = said[-_LAST_WORDS:]
            elif (answer := _parsed(said)) != _BEAT:
                return answer
        return None

    def exactly(self, size: int) -> bytes | None:
        """Take so many bytes, which are few; None where they do not come."""
        while len(self._spool) < size:
            if not (data := self._read(_CHUNK)):
                return None
            self._spool.feed(data)
        return self._spool.take(size)

    def last_words(self) -> str:
        """What was said last that is no answer."""
        said = self._spool.take(len(self._spool)) or self._said
        return visible(said[-_LAST_WORDS:].decode("utf-8", "replace").strip())

    def _line(self, end: float, within_s: float) -> bytes | None:
        while (line := self._spool.line()) is None:
            if len(self._spool) > self._longest:
                raise _endless()
            data = self._read(_CHUNK)
            if time.monotonic() > end:
                raise refusals.late(within_s)
            if not data:
                return None
            self._spool.feed(data)
        return line


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise NodeUnfit(f"it says what is not understood: {visible(repr(line[:_SHOWN]))}") from error


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is not a number")


def _endless() -> NodeUnfit:
    return NodeUnfit(
        "it says more of itself than any node has to say. Is it what you think? Does its login shell print "
        "something for ever?"
    )
