"""What can go wrong before and around the processes of a job.

LaunchError                     every one has an ``exit_status`` for the command that meets it
├── UsageError                  a Complaint: arguments, settings or environment ask for the impossible (2)
│   ├── FlagError               a flag that does not exist, or a value that it cannot take
│   ├── NotInThisRelease        a documented name whose behaviour this release does not have
│   ├── DeviceError             a network device that does not exist or has no IPv4 address
│   ├── ClusterError            the environment describes a cluster that cannot be
│   ├── SettingsError           conf.py cannot be read, or a setting in it cannot be
│   └── WorkspaceError          the folder to train in does not exist, or lacks what a job needs
├── PreparationFailed           the program that prepares a package did not end well (its own status)
└── DeliveryError               a workspace could not be put in place, or files not be fetched (1)
    ├── DeliveryRefused         a node does not do what a dispatch asks of it, such as to write elsewhere
    └── DeliveryStopped         because the launch was stopped meanwhile
"""

from __future__ import annotations

from paddle import _absent
from paddle._complaint import Complaint


class LaunchError(Exception):
    """Base of all errors of the launcher; the message is one paragraph that says what to do next."""

    exit_status = 1


class UsageError(Complaint, LaunchError, ValueError):
    """What was asked for is impossible; nothing was started."""


class FlagError(UsageError):
    """A flag that does not exist, or a value that it cannot take."""


class NotInThisRelease(UsageError, _absent.NotInThisRelease):
    """A documented name whose behaviour this release does not have: refused by name, never ignored."""


class DeviceError(UsageError):
    """A network device that does not exist or has no IPv4 address; the message lists those that do."""


class ClusterError(UsageError):
    """The environment describes a cluster that cannot be, such as trainer 2 of 2 counted from 0."""


class SettingsError(UsageError):
    """conf.py cannot be read, or a setting in it cannot be."""


class WorkspaceError(UsageError):
    """The folder to train in does not exist, or lacks what a job needs."""


class PreparationFailed(LaunchError):
    """The program that prepares a package did not end well; its status becomes the launcher's."""

    def __init__(self, text: str, exit_status: int) -> None:
        super().__init__(text)
        self.exit_status = exit_status


class DeliveryError(LaunchError):
    """A workspace could not be put in place, or files not be fetched; the message names the path."""


class DeliveryRefused(DeliveryError):
    """A node refused what a dispatch asked of it; nothing was written there."""


class DeliveryStopped(DeliveryError):
    """Files were being copied when the launch was stopped; nothing half-written is left."""
