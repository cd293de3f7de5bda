"""Receipt: where the answers of one connection go: into the arrays that the caller names, or to be read from
the shard's own memory.

It must never know a connection, which is gone, with all that it took, once nobody uses it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

from paddle._pserver.errors import BadMessage, ConnectionLost
from paddle._pserver.memory.shown import Seen
from paddle._pserver.protocol.messages import Answer, Reply, decode

Told = Callable[[int], None]

_REPLIES = get_args(Reply)


class Receipt:
    """``into``: byte views that the next body fills exactly; ``told``: is called with the number of bytes of
    it that have come and are right; ``seen``: the shard's values, where this trainer reads them itself."""

    def __init__(self) -> None:
        self.into: Sequence[memoryview] = ()
        self.told: Told | None = None
        self.seen: Seen | None = None
        self._is_to_read = False  # before the next reply is handed out

    def expect(self, into: Sequence[memoryview] = (), told: Told | None = None) -> None:
        """Of the next answer; without arguments nothing is held any longer."""
        self.into, self.told = into, told

    def place(self, kind: int, meta: memoryview, body_length: int) -> tuple[Reply, Sequence[memoryview]]:
        """A message has come, and where its body goes."""
        message = decode(kind, meta)
        if isinstance(message, Answer):
            self._is_to_read = not body_length and self.seen is not None and bool(self.into)
            return message, () if self._is_to_read else self.into
        if not isinstance(message, _REPLIES):
            raise BadMessage(f"it does not answer but asks: {type(message).__name__}")
        return message, ()

    def look(self, answer: Answer, what: str) -> None:
        """Read the values that an answer of ``what`` did not bring."""
        if self._is_to_read and self.seen is not None:
            self._is_to_read = False
            if not self.seen.read(self.into, answer.version):
                raise ConnectionLost(f"{what} went on without this trainer while that read new values.")
