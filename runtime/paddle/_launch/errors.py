"""What can go wrong before and around the processes of a job.

LaunchError                     every one has an ``exit_status`` for the command that meets it
├── UsageError                  the command line, settings or environment ask for something impossible (2)
│   ├── FlagError               a flag that does not exist, or a value that it cannot take
│   ├── NotInThisRelease        a documented name whose behaviour this release does not have
│   ├── DeviceError             a network device that does not exist or has no IPv4 address
│   └── ClusterError            the environment describes a cluster that cannot be
"""

from __future__ import annotations


class LaunchError(Exception):
    """Base of all errors of the launcher; the message is one paragraph that says what to do next."""

    exit_status = 1


class UsageError(LaunchError, ValueError):
    """What was asked for is impossible; nothing was started."""

    exit_status = 2


class FlagError(UsageError):
    """A flag that does not exist, or a value that it cannot take."""


class NotInThisRelease(UsageError):
    """A documented name whose behaviour this release does not have: refused by name, never ignored."""


class DeviceError(UsageError):
    """A network device that does not exist or has no IPv4 address; the message lists those that do."""


class ClusterError(UsageError):
    """The environment describes a cluster that cannot be, such as trainer 2 of 2 counted from 0."""
