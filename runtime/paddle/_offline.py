"""The commands ``paddle reshard`` and ``paddle export``: work on the snapshots of a job that need not run.

It must never know a snapshot. Guarantee: as of every command, see ``__main__``; what is stopped by a signal
leaves nothing half made.
"""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paddle._launch import signals
from paddle._launch.arguments import parse_arguments
from paddle._launch.errors import UsageError
from paddle._launch.flags import defaults_of, flags_of
from paddle._launch.manual import page
from paddle._streams import announce, show
from paddle._visible import visible

_EXPORT_USAGE = """
Usage: paddle export FROM... --to=PATH [--format=tar] [--name=value ...]

Makes a model of the newest snapshots that all servers of a job have. The job may be running. FROM is
every --snapshot_dir, or the job's folder. Exit status: 1 failure, 2 wrong usage.
"""
_FORMATS = ("tar", "persistables", "combined")
_RESHARD_USAGE = """
Usage: paddle reshard FROM... --to=FOLDER [--name=value ...]

Reads the newest snapshots that all servers of a job have, from every --snapshot_dir or from the job's
folder, and repartitions them for the servers of the next job: FOLDER/node-0, FOLDER/node-1... Start that job
with --snapshot_dir=FOLDER, or by hand every server with --snapshot_dir=FOLDER/node-N. FROM is not changed.
Exit status: 1 failure, 2 wrong usage.
"""


def reshard(arguments: Sequence[str]) -> int:
    """Run ``paddle reshard``; gives its exit status."""
    asked = _asked("reshard", arguments, _RESHARD_USAGE)
    if asked is None:
        return 0
    folders, to, values = asked

    def work(tell: Callable[[str], None]) -> None:
        from paddle._pserver.snapshots import offline

        sizes = {name: values[name] for name in ("nodes", "ports_num", "ports_num_for_sparse")}
        offline.reshard(folders, to, offline.Cluster(**sizes), tell)
        ports = " ".join(f"--{name}={sizes[name]}" for name in ("ports_num", "ports_num_for_sparse"))
        nodes = f"{sizes['nodes']} node{'s' * (sizes['nodes'] != 1)}"
        tell(f"start the next job, on {nodes}, with --snapshot_dir={shlex.quote(str(to.resolve()))} {ports}")

    return _run("reshard", to, work)


def export(arguments: Sequence[str]) -> int:
    """Run ``paddle export``; gives its exit status."""
    asked = _asked("export", arguments, _EXPORT_USAGE)
    if asked is None:
        return 0
    folders, to, values = asked
    if values["format"] not in _FORMATS:
        raise UsageError(f"--format={values['format']} is none of {', '.join(_FORMATS)}.")

    def work(tell: Callable[[str], None]) -> None:
        from paddle._pserver.snapshots import offline

        offline.export(folders, to, values["format"], tell, is_averaged=values["average"])

    return _run("export", to, work)


def _asked(
    command: str, arguments: Sequence[str], usage: str
) -> tuple[list[Path], Path, dict[str, Any]] | None:
    """From where, to where, and all flags; None where help was asked for, and given."""
    given = parse_arguments(arguments, command, command=f"paddle {command}", takes_words=True)
    if given.help:
        show(page(usage, [("Flags:", flags_of(command))]).rstrip())
        return None
    values: dict[str, Any] = {**defaults_of(command), **given.values}
    if not given.others or not values["to"]:
        raise UsageError(f"say which snapshots, and where to: paddle {command} FROM... --to=PATH")
    return [Path(word) for word in given.others], Path(values["to"]), values


def _run(command: str, to: Path, work: Callable[[Callable[[str], None]], None]) -> int:
    """Do ``work``, which says what it does; gives the exit status."""
    from paddle._pserver.errors import PserverError

    try:
        with _answered_signals():
            work(lambda text: announce(visible(text)))  # it is made, whoever reads
    except (PserverError, signals.Stopped) as error:
        print(visible(f"paddle {command}: {error}"), file=sys.stderr)
        return error.exit_status
    except OSError as error:
        print(visible(f"paddle {command}: {to} could not be made: {error}"), file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _answered_signals() -> Iterator[None]:
    """The first signal raises Stopped, and means afterwards what it meant."""
    before = {number: signal.getsignal(number) for number in signals.heard()}
    signals.answer()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
