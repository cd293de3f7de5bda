"""What can go wrong where processes meet.

ParleyError               a PserverError
├── RankMissing           somebody has not come in time, or has left: the text names who
└── HostUnreachable       nobody is there to meet at, or not with this job's token
"""

from __future__ import annotations

from paddle._pserver.errors import PserverError


class ParleyError(PserverError):
    """Base of these errors."""


class RankMissing(ParleyError):
    """Somebody has not come in time, or has left."""


class HostUnreachable(ParleyError):
    """Nobody is there to meet at, or not with this job's token."""
