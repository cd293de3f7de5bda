"""Cut room: what one cut of a shard takes of its memory, until it is written.

1.  All that a cut copies is taken from this: what it needs from its beginning, before it is made; rows as
    they are kept aside.
2.  Tables come first: a cut may have what is set aside for it, and what they leave of theirs at the moment.
3.  Where that is too little, or the system has none, the cut has failed, and all of it with it: of whatever
    table a piece is asked for next, there is none.
4.  So what is read later should not change meanwhile once most of it is used; nor where there was too little
    to begin with, and nothing was copied: ``must_stand``.

It must never know a table. Guarantee: a cut that has failed stays so.
"""

from __future__ import annotations

from collections.abc import Callable

_UNLIMITED = 1 << 62


class CutRoom:
    """See the module's text. ``most_bytes``: what a cut may have now. ``copies``: whether it is to have what
    could be copied at once; otherwise that is read where it lies."""

    def __init__(self, most_bytes: Callable[[], int] = lambda: _UNLIMITED, *, copies: bool = True) -> None:
        self._most_bytes, self.copies = most_bytes, copies
        self._taken = 0
        self._failure = ""

    @property
    def must_stand(self) -> bool:
        """Whether what it is of should stay as it is until it was read (rule 4)."""
        return not self.copies or 4 * self._taken > 3 * self._most_bytes()

    def bound(self) -> None:
        """No more is to be copied than what there is to know of it from its beginning."""
        most_bytes = self._taken
        self._most_bytes = lambda: most_bytes

    def take(self, more_bytes: int) -> None:
        """So much more is about to be copied. Raises OSError where there is no room for it, or no more."""
        self._taken += more_bytes
        self.check()

    def check(self) -> None:
        """The same, of what is copied already: tables may have grown."""
        if self._failure:
            raise OSError(self._failure)
        if self._taken > (most := max(0, self._most_bytes())):
            raise OSError(
                f"it needs {self._taken / (1 << 20):.1f} MiB by now, and what this shard may have leaves "
                f"{most / (1 << 20):.1f} MiB for it (--memory_limit, --snapshot_memory)"
            )

    def fail(self, why: str) -> None:
        """A part of it is not to be had any more: rule 3."""
        if not self._failure:
            self._failure = why
