"""The tasks of `fab` that speak with jobs, one function each: values in, lines out.

It must never know Fabric: the face does (fabfile/job.py). What cannot be done is a LaunchError.
"""

from __future__ import annotations

import getpass
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from paddle._insistence import settle
from paddle._launch.backends import carrier
from paddle._launch.errors import UsageError
from paddle._launch.flag import Flag
from paddle._launch.flags import BY_NAME
from paddle._launch.jobs import collecting, reading, stopping, watching
from paddle._launch.jobs.index import Index, Standing, choose
from paddle._launch.jobs.looking import as_json, headline, in_words, look
from paddle._launch.screens.merged import Heads
from paddle._launch.screens.screen import can_draw, has_colours
from paddle._launch.screens.stream import end_with_reader, width_of
from paddle._launch.settings import ROOT
from paddle._streams import show

_TAIL = Flag(name="tail", kind="int", default=1, help="", users=frozenset(), low=1)
_GRACE = Flag(name="grace", kind="duration", default=2.0, help="", users=frozenset(), low=0, high=3600)


def start(package: str, flags: str, conf: str, *, detach: bool) -> None:
    """Launch a package, in place of this process."""
    if package.startswith("-") and not Path(package).is_dir():
        raise UsageError(
            f"{package} is no folder: first of all `fab start` takes the one that holds your train.py. "
            "`fab --help start` shows what else it takes."
        )
    own = ["--detach"] if detach else []
    _launch([f"--conf={_named(conf)}", f"--job_dispatch_package={package}", *own, *shlex.split(flags)])


def resume(job: str, flags: str, conf: str, *, detach: bool) -> None:
    """Launch a job that goes on from the snapshots of another, in place of this process."""
    found = choose(Index().jobs(), job, _conf(conf), what="go on from", running=False)
    own = ["--detach"] if detach else []
    _launch([f"--resume={found.record.id}", *own, *shlex.split(flags)])


def stop(job: str, conf: str, grace: str, *, kill: bool) -> None:
    """Stop a job."""
    grace_s = float(str(_GRACE.parse(grace, "--grace"))) if grace else None
    found = choose(Index().jobs(), job, _conf(conf), what="stop", running=not job)
    by = f"fab stop ({_user()}, process {os.getpid()})"
    _do(stopping.stop(found, grace_s=grace_s, kill=kill, by=by))


def status(job: str, conf: str, form: str, *, of_all: bool, follow: bool) -> None:
    """Say how jobs stand: one in full, several by a line each."""
    BY_NAME["format"].parse(form, "--format")
    jobs = Index().jobs()
    mine = [one for one in jobs if of_all or one.record.conf == _conf(conf)]
    live = [one for one in mine if one.standing is Standing.RUNS]
    if not job and (of_all or len(live) > 1):
        looks = [look(one) for one in (mine if of_all else live)]
        if not looks and form == "text":
            _print(["no job was started by this user. `fab start DIR` starts one."])
        _print(as_json(seen) if form == "json" else headline(seen) for seen in looks)
        return
    found = choose(jobs, job, _conf(conf), what="show", running=False)
    if follow and form == "text" and can_draw(sys.stdout):
        watching.draw(found, sys.stdout)
        return
    if follow:
        end_with_reader()
        _print(watching.changes(found, form, width_of(sys.stdout)))
        return
    seen = look(found)
    _print([as_json(seen)] if form == "json" else in_words(seen, width_of(sys.stdout)))


def logs(job: str, conf: str, role: str, tail: str, grep: str, *, follow: bool) -> None:
    """Show what the roles of a job print."""
    last = int(str(_TAIL.parse(tail, "--tail"))) if tail else None
    wanted = reading.choice(tail=last, role=role, grep=grep)
    found = choose(Index().jobs(), job, _conf(conf), what="read", running=False)
    heads, is_coloured = Heads(found.record.plan), has_colours(sys.stdout)
    if follow:
        end_with_reader()
    lines = reading.lines(found, wanted, follow=follow)
    _print(heads.line(line.role, line.text, is_coloured=is_coloured) for line in lines)


def collect(job: str, conf: str) -> None:
    """Collect logs and model of a job."""
    found = choose(Index().jobs(), job, _conf(conf), what="collect", running=False)
    _do(collecting.collect(found.record.plan, carrier))


def _user() -> str:
    """Who types this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # its number has no name, as in some containers
        return f"user {os.getuid()}"


def _conf(given: str) -> Path:
    """The settings file by which jobs are told apart: the one that is given, or this project's."""
    return Path(os.path.realpath(given or ROOT / "conf.py"))


def _named(given: str) -> str | Path:
    """The settings file as the launcher can open it: a pipe of the shell's has no other name."""
    is_pipe = given and Path(given).exists() and not Path(given).is_file()
    return given if is_pipe else _conf(given)


def _launch(arguments: list[str]) -> None:
    launcher = ROOT / "paddle.py"
    if not launcher.is_file():
        raise UsageError(
            f"there is no {launcher}. `fab start` is of the project's folder, with conf.py in it."
        )
    sys.stdout.flush()
    settle()
    os.execv(sys.executable, [sys.executable, str(launcher), *arguments])


def _do(lines: Iterable[str]) -> None:
    """Say what is done, and do it to its end, whoever reads."""
    for line in lines:
        show(line)


def _print(lines: Iterable[str]) -> None:
    """Print as it comes, until nobody reads it any more."""
    for line in lines:
        if not show(line):
            return
