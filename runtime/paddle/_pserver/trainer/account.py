"""Account: how many bytes the journals of all lines of one trainer may keep together.

1.  A journal that holds no push takes one, however large it is.
2.  While there is plenty of room, every journal takes what comes.
3.  When four fifths are used, the journal that would be the heaviest does not, before a snapshot of its shard
    has emptied it; the others go on. A journal weighs its bytes times its pushes: it is to have many of the
    former to give back, and not to have been emptied lately.
4.  Beyond the limit none does.

So lines that carry little have their shards cut more seldom than those that carry much, though not so seldom
that old words fill the account; and shards whose lines carry the same are cut one after another, each about
twice as seldom as if every line had an equal part.

It must never know a shard. Guarantee: but for the first push of each journal, ``limit_bytes`` are not
exceeded. (Lines are used by several threads: by what these add at the same moment.)
"""

from __future__ import annotations

from paddle._pserver.trainer.journal import Journal


class Account:
    """See the module's text."""

    def __init__(self, limit_bytes: int = 512 << 20) -> None:
        self._limit_bytes, self._plenty_bytes = limit_bytes, limit_bytes * 4 // 5
        self._journals: list[Journal] = []

    def open(self) -> Journal:
        """A journal for one more line."""
        journal = Journal()
        self._journals.append(journal)
        return journal

    @property
    def used_bytes(self) -> int:
        """What all journals keep."""
        return sum([journal.size_bytes for journal in self._journals])

    def has_room(self, journal: Journal, size_bytes: int) -> bool:
        """Whether ``journal`` may take as much more before there is a snapshot of its shard."""
        used = self.used_bytes + size_bytes
        if used <= self._plenty_bytes or not journal.pushes:
            return True
        others = [other.size_bytes * other.pushes for other in self._journals if other is not journal]
        weight = (journal.size_bytes + size_bytes) * (journal.pushes + 1)
        return used <= self._limit_bytes and (not others or weight <= max(others))
