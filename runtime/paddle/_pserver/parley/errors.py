"""What can go wrong where processes meet.

ParleyError               a PserverError
├── RankMissing           somebody has not come in time, is heard of no more, or has left: the text names who
├── HostUnreachable       nobody is there to meet at
├── NotOfThisJob          who is there has not this job's token, or is no place where its processes meet
└── OtherWorld            a process speaks of another number of processes than the others
"""

from __future__ import annotations

from paddle._pserver.errors import PserverError


class ParleyError(PserverError):
    """Base of these errors."""


class RankMissing(ParleyError):
    """Somebody has not come in time, is heard of no more, or has left."""


class HostUnreachable(ParleyError):
    """Nobody is there to meet at."""


class NotOfThisJob(ParleyError):
    """Who is there has not this job's token, or is no place where its processes meet."""


class OtherWorld(ParleyError):
    """A process speaks of another number of processes than the others."""
