"""``python paddle.py``: from a command line to the exit status of a job.

The walk: arguments, conf.py and environment become settings, then a job, then a plan, which is printed; then
it is carried out. ``--dry_run`` stops before anything is started or changed.

Guarantee: what is wrong with the call is said in one paragraph, with status 2, before anything happened.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from paddle._launch import job, manual, plan, prepare, remote, signals
from paddle._launch.arguments import parse_arguments
from paddle._launch.backends import carrier
from paddle._launch.errors import LaunchError, UsageError
from paddle._launch.flags import flags_of
from paddle._launch.launch import Launch
from paddle._launch.printer import Printer, own
from paddle._launch.settings import settle
from paddle._launch.status import screen
from paddle._launch.workspace import Claim
from paddle._visible import visible

RUNTIME = Path(__file__).resolve().parents[2]
_HEAD = """
usage: python paddle.py --job_dispatch_package=DIR [flags]
       python paddle.py --job_workspace=DIR [flags]

Starts a parameter server and a trainer on every node of conf.py, watches them, and collects logs and model.
Any other argument is handed to the training program, train.py, of every trainer.
"""
_TAIL = """
Exit status: 0 when all trainers ended well; 2 for a wrong call; 130, 143 or 129 when stopped by INT, TERM or
HUP; otherwise that of the process that failed first.
"""


def main(argv: Sequence[str] | None = None, runtime: Path = RUNTIME) -> int:
    """Run one command line, this program's own if none is given; gives the exit status."""
    try:
        signals.answer()
        _open_streams()
        status = _run(sys.argv[1:] if argv is None else argv, runtime)
    except (LaunchError, signals.Stopped) as end:
        signals.leave_at_once()
        _complain(f"paddle.py: {end}")
        status = end.exit_status
    signals.leave_at_once()
    _flush()
    return status


def _run(argv: Sequence[str], runtime: Path) -> int:
    given = parse_arguments(argv, "launcher", command=job.COMMAND, pass_on=True)
    if given.help:
        return _print(_help().rstrip())
    conf = Path(str(given.values.get("conf", runtime.parent / "conf.py")))
    settings = settle(conf, os.environ, given.values)
    describe = partial(job.describe, settings, given, cwd=_here())
    spec = describe(datetime.now())
    for notice in spec.notices:
        _complain(f"paddle.py: {notice}")
    prepare.check(spec)
    if settings["dry_run"]:
        lines = plan.describe(_plan(spec, runtime))
        return _print("\n".join([*lines, "a dry run: nothing was started or changed"]))
    if settings["job_prepare"]:
        _print(f"preparing: {settings['job_prepare']} in {spec.home}")
    prepare.run(spec, python=sys.executable, runtime=runtime)
    claim = Claim()
    try:
        return _carry_out(_plan(describe(datetime.now(), is_free=claim.take), runtime))
    finally:
        claim.release()


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more. cd to one that does.") from error


def _help() -> str:
    theirs = [flag for flag in manual.flags_not_of("launcher", "trainer") if flag.name not in job.OURS]
    sections = [("Of the launcher:", flags_of("launcher")), ("Of the trainers:", tuple(theirs))]
    return manual.page(_HEAD, sections, _TAIL)


def _plan(spec: job.JobSpec, runtime: Path) -> plan.LaunchPlan:
    needs = None if spec.settings.hosts[0].is_local else remote.needs(spec.settings, runtime)
    token = secrets.token_hex(4)
    return plan.plan(spec, python=sys.executable, runtime=runtime, token=token, remote=needs)


def _carry_out(launch: plan.LaunchPlan) -> int:
    shown = Printer(screen(own(sys.stdout)))
    running = Launch(launch, shown, carrier)
    for line in plan.describe(launch):
        shown.say(line)
    status = running.run()
    if shown.is_gone:
        _complain("paddle.py: nobody reads what it prints any more, so the job was stopped. A file would do.")
    _explain(running, launch)
    if running.has_trained and (again := _again(launch, status)):
        shown.say(f"to go on from the snapshots: {again}")
    curve = None
    with contextlib.suppress(KeyboardInterrupt):  # the job is over; only the picture is given up
        curve = running.draw_curve()
    shown.say(_last_line(launch, status, curve, running))
    return status


def _explain(running: Launch, launch: plan.LaunchPlan) -> None:
    """After a failure: what failed, where, its last lines, and where all of them are."""
    cause = running.cause
    if cause is None or cause.signum is not None:
        return
    if launch.remote is not None and running.unfit:
        for line in _unfit(running.unfit, launch):
            _complain(line)
        return
    node = next((node for node in launch.nodes if node.node == cause.node), None)
    where = f" on node {node.node} ({node.address})" if node else ""
    if cause.role is None:
        _complain(f"paddle.py: the job failed{where}: {cause.text}")
        return
    tail = running.last_lines(cause.role)
    _complain(
        f"paddle.py: {cause.text}{where}. Its last lines:" if tail else f"paddle.py: {cause.text}{where}."
    )
    for line in tail:
        _complain(f"  | {line}")
    if cause.detail:
        _complain(f"Why: {cause.detail}")
    log = next(role.log for one in launch.nodes for role in one.roles if role.name == cause.role)
    _complain(f"All it printed: {launch.home / 'log' / f'node-{cause.node}' / Path(log).name}")


def _unfit(unfit: dict[int, str], launch: plan.LaunchPlan) -> Iterator[str]:
    """A table of the nodes that cannot be used."""
    shown = {node.node: f"{node.host.user}@{node.host.name}" for node in launch.nodes if node.node in unfit}
    width = max(map(len, shown.values()))
    of = plan.count(len(launch.nodes), "node")
    yield f"paddle.py: {len(unfit)} of {of} cannot be used; nothing was started or changed on any."
    for node, name in shown.items():
        yield f"  node {node:<3} {name:<{width}}  {unfit[node]}"


def _again(launch: plan.LaunchPlan, status: int) -> str:
    """How the next launch finds the snapshots of this one; empty where there is no reason for one, or it
    would be as wrong as this one was."""
    snapshots = launch.snapshots
    if snapshots is None or status in (0, UsageError.exit_status):
        return ""
    if snapshots.is_absolute():
        return f"the same command again, with --snapshot_dir={snapshots}"
    place = launch.nodes[0].workspace
    place = place.parent if place.name == "node-0" else place
    command = f"python paddle.py --job_workspace={shlex.quote(str(place))}"
    return f"{command} --snapshot_dir={shlex.quote(str(snapshots))}, with the other flags of this job"


def _last_line(launch: plan.LaunchPlan, status: int, curve: Path | None, running: Launch) -> str:
    if not running.has_started:
        return f"ended with status {status}, before any role was started"
    head = "done" if status == 0 else f"ended with status {status}"
    left = list(_left(launch, running))
    parts = [f"{head}: logs in {launch.home / 'log'}"]
    parts += [f"loss curve {curve}"] if curve else []
    model = launch.home / "output"
    if (0, "output") in running.collected:
        parts.append(f"model in {model}")
    elif model.is_dir() and model != launch.nodes[0].workspace / "output":
        parts.append(f"the model in {model} is of an earlier job")
    parts += [f"not collected, so to be found where it was made: {' '.join(left)}"] if left else []
    return ", ".join(parts)


def _left(launch: plan.LaunchPlan, running: Launch) -> Iterator[str]:
    """The folders that could not be collected, and how the user reaches them."""
    for node, folder in (*((node, "log") for node in launch.nodes), (launch.nodes[0], "output")):
        place = node.workspace / folder
        if (node.node, folder) in running.collected:
            continue
        if node.host.is_local and place.is_dir():
            yield str(place)
        elif not node.host.is_local and folder == "log":  # what else is there, only the node could say
            yield f"{node.host.user}@{node.host.name}:{place}"


def _open_streams() -> None:
    """A shell may have closed them (``>&-``): then there is nothing to see, and nothing wrong."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115  for good
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115  for good


def _print(text: str) -> int:
    """Print all that a command is for; gives the exit status."""
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever read this, `head` perhaps, has enough
        return 0
    except OSError as error:
        _complain(f"paddle.py: cannot print: {error.strerror}")
        return 1
    return 0


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):
        print(visible(text), file=sys.stderr, flush=True)


def _flush() -> None:
    """A reader that went away must not turn the status of a job into that of a broken pipe."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
