"""What can go wrong before and around the processes of a job.

LaunchError                     every one has an ``exit_status`` for the command that meets it
├── UsageError                  a Complaint: arguments, settings or environment ask for the impossible (2)
│   ├── FlagError               a flag that does not exist, or a value that it cannot take
│   ├── NotInThisRelease        a documented name whose behaviour this release does not have
│   ├── DeviceError             a network device that does not exist or has no IPv4 address
│   ├── ClusterError            the environment describes a cluster that cannot be
│   │   └── Unset               it lacks a variable; upstream's is a KeyError in 1.x, and so is this
│   ├── SettingsError           conf.py cannot be read, or a setting in it cannot be
│   └── WorkspaceError          the folder to train in does not exist, or lacks what a job needs
├── Interrupted                 a signal ended what was under way (128 + its number)
├── PreparationFailed           the program that prepares a package did not end well (its own status)
├── NodeError                   a node cannot be used (1)
│   ├── NodeUnreachable         no connection to it, or none that speaks SSH
│   ├── HostKeyUnknown          nobody has said that the host that answers is the one that is meant
│   ├── HostKeyChanged          it is not the one that it was
│   ├── LoginRefused            no key opens it
│   ├── NodeUnfit               it lacks what a job needs: a Python, packages, room
│   └── NodeLost                a connection to it broke
│       └── NodeSilent          nothing comes or goes by it any more
├── RanksApart                  ranks that mpirun or srun has started do not find each other (1)
├── MachinesApart               machines that fleetrun is called on do not find each other (1)
├── JobError                    a job that is not there, runs, or does not run; or does not answer (1)
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


class Unset(ClusterError, KeyError):
    """The environment lacks a variable that a process of a cluster needs."""

    __str__ = ClusterError.__str__  # a KeyError would quote it


class SettingsError(UsageError):
    """conf.py cannot be read, or a setting in it cannot be."""


class WorkspaceError(UsageError):
    """The folder to train in does not exist, or lacks what a job needs."""


class PreparationFailed(LaunchError):
    """The program that prepares a package did not end well; its status becomes the launcher's."""

    def __init__(self, text: str, exit_status: int) -> None:
        super().__init__(text)
        self.exit_status = exit_status


class Interrupted(LaunchError):
    """A signal ended what was under way; the message says how it goes on."""

    def __init__(self, text: str, exit_status: int) -> None:
        super().__init__(text)
        self.exit_status = exit_status


class NodeError(LaunchError):
    """A node cannot be used; whoever shows it names the node, the message says why and what to do."""


class NodeUnreachable(NodeError):
    """No connection to it, or none that speaks SSH. ``may_pass``: another try could go better."""

    def __init__(self, text: str, may_pass: bool = False) -> None:
        super().__init__(text)
        self.may_pass = may_pass


class HostKeyUnknown(NodeError):
    """Nobody has said that the host that answers is the one that is meant."""


class HostKeyChanged(NodeError):
    """The host is not the one that it was; refused always."""


class LoginRefused(NodeError):
    """No key opens it."""


class NodeUnfit(NodeError):
    """It lacks what a job needs: a Python, packages, room, a network device."""


class NodeLost(NodeError):
    """A connection to it broke."""


class NodeSilent(NodeLost):
    """Nothing comes or goes by a connection to it any more, and nobody said why."""


class RanksApart(LaunchError):
    """Ranks that mpirun or srun has started do not find each other."""


class MachinesApart(LaunchError):
    """Machines of a job that nobody lists, and that fleetrun is called on, do not find each other."""


class JobError(LaunchError):
    """What was asked of a job cannot be done with it; the message says which jobs there are."""


class DeliveryError(LaunchError):
    """A workspace could not be put in place, or files not be fetched; the message names the path."""


class DeliveryRefused(DeliveryError):
    """A node refused what a dispatch asked of it; nothing was written there."""


class DeliveryStopped(DeliveryError):
    """Files were being copied when the launch was stopped; nothing half-written is left."""
