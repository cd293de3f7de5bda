"""Sign: when a trainer that hears nothing wants one from the other side of a connection that is encrypted.

Where a byte is damaged on the way that says how long a record of TLS is, one side waits for the rest of a
record that has come whole, and the other for an answer. Frames check their lengths; of a record nobody sees
it. As much as a record can have at most ends it, and the damage is found.

It must never know a socket or a clock. Guarantee: while none comes back (the damage may be in the sign
itself), each next one is waited with for twice as long, so that all of an hour fit into the buffers of a
connection.
"""

from __future__ import annotations

from paddle._pserver.protocol.messages import Sign

SILENT_S = 5.0
_RECORD_BYTES = (1 << 14) + 256
"""The longest record that TLS 1.3 takes; a longer one is refused by what it says of itself."""

SIGN = Sign(bytes(_RECORD_BYTES))


class Silence:
    """How long nothing has come on one connection."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._unanswered = 0

    def begin(self) -> None:
        """Something is waited for from now on."""
        self._since = None

    def heard(self) -> None:
        """Something came."""
        self._since = None

    def answered(self) -> None:
        """A sign came back."""
        self._unanswered = 0

    def wants_sign(self, now: float) -> bool:
        """Nothing has come until ``now``: whether to say one. If so it has been said."""
        if self._since is None:
            self._since = now
        if now - self._since < SILENT_S * 2**self._unanswered:
            return False
        self._since = now
        self._unanswered += 1
        return True
