"""What can go wrong between a trainer and its master. The class name is the error's code on the wire.

MasterError                   a PserverError
├── BadAddress                a Complaint: what was given is not where a master can be
├── NoDataset                 nothing was set yet
├── BadDataset                a Complaint: the paths match nothing, or not what RecordIO files are
├── PassBefore                the pass that is asked for is over
├── PassAfter                 the pass that is asked for has not begun: others have tasks of the one before
├── PassUnknown               it is further ahead than any trainer can be: the master has lost its state
├── NoMoreAvailable           all tasks of the pass are finished, failed or with others
├── AllTaskFailed             every task failed too often: there is nothing left to hand out
├── MasterNotAuthorized       a Complaint: the two sides do not have the same token
├── BadRequest                what came is no request
├── StateNotSaved             the state file cannot be written, or not be read
└── MasterUnreachable         no connection, or no answer, until the deadline
"""

from __future__ import annotations

from paddle._complaint import Complaint
from paddle._pserver.errors import PserverError


class MasterError(PserverError):
    """Base of the errors of the task queue."""


class BadAddress(Complaint, MasterError):
    """What was given is not where a master can be."""


class NoDataset(MasterError):
    """Nothing was set yet."""


class BadDataset(Complaint, MasterError):
    """The paths match nothing, or not what RecordIO files are."""


class PassBefore(MasterError):
    """The pass that is asked for is over."""


class PassAfter(MasterError):
    """The pass that is asked for has not begun."""


class PassUnknown(MasterError):
    """It is further ahead than any trainer can be."""


class NoMoreAvailable(MasterError):
    """All tasks of the pass are finished, failed or with others."""


class AllTaskFailed(MasterError):
    """Every task failed too often."""


class MasterNotAuthorized(Complaint, MasterError):
    """The two sides do not have the same token."""


class BadRequest(MasterError):
    """What came is no request."""


class StateNotSaved(MasterError):
    """The state file cannot be written, or not be read."""


class MasterUnreachable(MasterError):
    """No connection, or no answer, until the deadline."""


def error_named(code: str, text: str) -> MasterError:
    """Make the error that a master told by its code; one of a newer release becomes the base class."""
    known = {kind.__name__: kind for kind in MasterError.__subclasses__()}
    return known[code](text) if code in known else MasterError(f"{code}: {text}")
