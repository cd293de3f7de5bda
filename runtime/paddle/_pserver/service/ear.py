"""Ear: where a server, or who holds the place where processes meet, hears whoever runs those of its job: a
line of JSON each, on a descriptor.

    {"text": "trainer-1 was killed by SIGKILL", "trainer": 1, "goes_on": true}
    {"text": "pserver-1 ended with status 1", "other": "pserver-1"}

It must never know who speaks. Guarantee: it never waits; what is no such line is passed over.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

import msgspec

_CHUNK = 1 << 16
_LONGEST = 1 << 20  # of a line; more is none

_log = logging.getLogger("paddle.pserver")


class Word(msgspec.Struct, frozen=True):
    """A process of the job has ended for good. ``text``: which, and how; ``trainer``: its number, where it is
    one; ``other``: what else it was, by its name; ``goes_on``: the job does, without it."""

    text: str
    trainer: int | None = None
    other: str = ""
    goes_on: bool = False


_decode = msgspec.json.Decoder(Word).decode


class Ear:
    """``descriptor``: does not block; None: nobody speaks. ``heard`` is called with each word."""

    def __init__(self, descriptor: int | None, heard: Callable[[Word], None]) -> None:
        self._descriptor, self._heard = descriptor, heard
        self._begun = b""

    def listen(self) -> None:
        """From now on, in the loop that runs."""
        if self._descriptor is not None:
            asyncio.get_running_loop().add_reader(self._descriptor, self.read)

    def read(self) -> None:
        """Hear all that is there now."""
        for line in self._lines():
            try:
                word = _decode(line)
            except msgspec.MsgspecError as error:
                _log.warning("cannot understand what the launcher says: %s", error)
            else:
                self._heard(word)

    def _lines(self) -> list[bytes]:
        if self._descriptor is None:
            return []
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:  # nobody speaks any more
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._descriptor = None
        *lines, begun = (self._begun + data).split(b"\n")
        self._begun = begun if len(begun) <= _LONGEST else b""
        return lines
