"""What can go wrong with fleet.

FleetError              a Complaint, and a ValueError as upstream's are: a wrong call
├── BadRole             a role that cannot be, told by the program or by the environment
├── UnknownKeyword      an argument that there is not; a TypeError, too, as Python's is
├── BadStrategy         a strategy that has no such option, or not such a value
│   ├── UnknownConfig   a key that a group of options lacks; upstream's is an AssertionError, and so is this
│   └── MistypedConfig  a group, or a value in one, of another type; upstream's is a TypeError, and so is this
└── TooEarly            something that needs ``init`` or ``minimize`` before it
"""

from __future__ import annotations

from paddle._complaint import Complaint


class FleetError(Complaint, ValueError):
    """A wrong call of fleet; the message is one paragraph that says what to do."""


class BadRole(FleetError):
    """A role that cannot be."""


class UnknownKeyword(FleetError, TypeError):
    """An argument that there is not."""


class BadStrategy(FleetError):
    """A strategy that has no such option, or not such a value."""


class UnknownConfig(BadStrategy, AssertionError):
    """A key that a group of options lacks."""


class MistypedConfig(BadStrategy, TypeError):
    """A group of options, or a value in one, of another type."""


class TooEarly(FleetError):
    """Something that needs another call before it."""
