"""What can go wrong with fleet.

FleetError              a Complaint, and a ValueError as upstream's are: a wrong call
├── BadRole             a role that cannot be, told by the program or by the environment
│   ├── NoSuchProcess   a number that no process has; upstream's is an IndexError, and so is this
│   └── MistypedRole    an argument of another type; upstream's is a TypeError, and so is this
│       └── Uncounted   no number of workers; upstream's is an AssertionError in 2.x, and so is this
├── UnknownKeyword      an argument that there is not; a TypeError, too, as Python's is
├── BadStrategy         a strategy that has no such option, or not such a value
│   ├── UnknownConfig   a key that a group of options lacks; upstream's is an AssertionError, and so is this
│   └── MistypedConfig  a group, or a value in one, of another type; upstream's is a TypeError, and so is this
│       └── NotOptions  options of building or running that are none; upstream's is an AttributeError
└── TooEarly            something that needs ``init`` or ``minimize`` before it
"""

from __future__ import annotations

from paddle._complaint import Complaint


class FleetError(Complaint, ValueError):
    """A wrong call of fleet; the message is one paragraph that says what to do."""


class BadRole(FleetError):
    """A role that cannot be."""


class NoSuchProcess(BadRole, IndexError):
    """A number that no process of the job has."""


class MistypedRole(BadRole, TypeError):
    """An argument of a role maker of another type."""


class Uncounted(MistypedRole, AssertionError):
    """A role maker that is not told how many workers there are."""


class UnknownKeyword(FleetError, TypeError):
    """An argument that there is not."""


class BadStrategy(FleetError):
    """A strategy that has no such option, or not such a value."""


class UnknownConfig(BadStrategy, AssertionError):
    """A key that a group of options lacks."""


class MistypedConfig(BadStrategy, TypeError):
    """A group of options, or a value in one, of another type."""


class NotOptions(MistypedConfig, AttributeError):
    """Options of building or running that are none: of upstream's they lack the first that is read."""


class TooEarly(FleetError):
    """Something that needs another call before it."""
