"""How a parameter server's job fares, told to whoever launched this process, and why it broke, to its user.

It must never know what becomes of what it is told. Guarantee: where nobody listens nothing happens.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._launch.environ import reporter
from paddle._streams import complain


class Reported:
    """A Watcher (``_pserver.watcher``). ``name``: of this process, for its user. ``raises``: an error will
    say why the job broke; where there is none, :meth:`say` does."""

    def __init__(self, name: str, *, raises: bool = False) -> None:
        self._name, self._raises = name, raises
        self._unsaid = ""

    def joined(self) -> None:
        """See Watcher."""
        reporter().joined()

    def waiting(self, trainers: Sequence[int], seconds: float) -> None:
        """See Watcher."""
        reporter().waiting(trainers, seconds)

    def barred(
        self, shard: str, ever: Sequence[int], until_pass_ends: Sequence[int], left: Sequence[int]
    ) -> bool:
        """See Watcher."""
        return reporter().barred(shard, ever, until_pass_ends, left)

    def broken(
        self, shard: str, reason: str, trainers: Sequence[int], *, is_own: bool, other: str = ""
    ) -> None:
        """See Watcher."""
        text = f"{shard}: the job is broken: {reason}"
        self._unsaid = self._unsaid or text
        if not self._raises:
            self.say()
        reporter().broken(text, trainers, is_own=is_own, other=other)

    def say(self) -> None:
        """Tell the user why the job broke, if it did, and nobody has."""
        text, self._unsaid = self._unsaid, ""
        if text:
            complain(f"{self._name}: {text}")

    def restarted(self, shard: str, how: str) -> None:
        """See Watcher."""
        reporter().restarted(shard, how)
