"""``python paddle.py``: from a command line to the exit status of a job.

The walk: arguments, conf.py and environment become settings, then a job, then a plan, which is printed; then
it is carried out. ``--dry_run`` stops before anything is started or changed.

Guarantee: what is wrong with the call is said in one paragraph, with status 2, before anything happened.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from paddle._launch import bulletins, job, manual, plan, prepare, remote, signals
from paddle._launch.arguments import Arguments, parse_arguments
from paddle._launch.backends import carrier
from paddle._launch.errors import JobError, LaunchError, UsageError
from paddle._launch.flags import flags_of
from paddle._launch.jobs import background, explanation, reading
from paddle._launch.jobs.desk import Desk
from paddle._launch.jobs.index import Index, choose
from paddle._launch.jobs.naming import Naming
from paddle._launch.jobs.register import register
from paddle._launch.jobs.resumption import again, resumed
from paddle._launch.jobs.shared import SharedScreen
from paddle._launch.kubernetes import names, whereabouts
from paddle._launch.launch import Launch
from paddle._launch.logs import LAUNCHER
from paddle._launch.news import Bulletin, Ended, Failed, Planned, PlannedNode, Said
from paddle._launch.results.tenancy import Tenancy
from paddle._launch.screens.merged import Heads, MergedScreen
from paddle._launch.screens.printer import Printer
from paddle._launch.screens.screen import screen
from paddle._launch.screens.stream import can_show, open_streams, own, width_of
from paddle._launch.settings import RUNTIME, Settings, settle
from paddle._launch.workspace import Claim
from paddle._visible import visible

_HEAD = """
usage: python paddle.py --job_dispatch_package=DIR [flags]
       python paddle.py --job_workspace=DIR [flags]
       python paddle.py --resume=JOB [flags]

Starts parameter servers and trainers on the nodes of conf.py, watches them, and collects logs and model.
Any other argument is passed to every trainer's program, train.py.
"""
_TAIL = """
Exit status:
  0    all trainers succeeded; with --detach: the job is training in the background
  1    a node failed: it could not be reached, was lost, or a workspace could not be prepared
  2    wrong command or invalid settings; nothing was started
  98   a port is taken on a node; nothing was trained
  129, 130, 143   stopped by HUP, INT (Ctrl+C), or TERM (also by `fab stop`)
  else that of the process that failed first, 128 + n if signal n killed it: 137 for SIGKILL
"""


def main(argv: Sequence[str] | None = None, runtime: Path = RUNTIME) -> int:
    """Run one command line, this program's own if none is given; gives the exit status."""
    try:
        signals.answer()
        open_streams()
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
    home = None
    if name := str(given.values.get("resume", "")):
        earlier = choose(Index().jobs(), name, None, what="go on from", running=False)
        given, home = resumed(given, earlier), earlier.record.plan.home
    conf = Path(str(given.values.get("conf", runtime.parent / "conf.py")))
    settings = settle(conf, os.environ, given.values)
    describe = partial(job.describe, settings, given, cwd=_here(), home=home, letters=names.letters())
    spec = describe(datetime.now())
    for notice in spec.notices:
        _complain(f"paddle.py: {notice}")
    prepare.check(spec)
    wanted = reading.pattern(settings["grep_logs"], "--grep_logs")
    if settings["dry_run"]:
        return _dry_run(_plan(spec, runtime), spec)
    if settings["job_prepare"]:
        _announce(settings["format"], f"preparing: {settings['job_prepare']} in {spec.home}")
    prepare.run(spec, python=sys.executable, runtime=runtime)
    claim, naming, tenancy = Claim(), Naming(Index()), Tenancy()
    is_free = claim.take if settings.hosts[0].is_local else naming.is_free
    try:
        planned = _plan(describe(datetime.now(), is_free=is_free), runtime)
        launch = _housed(whereabouts.settled(planned, os.environ), tenancy)
        side = background.split(launch.home / "log" / LAUNCHER) if settings["detach"] else None
        if isinstance(side, background.Foreground):
            return _leave(side, launch, settings["format"])
        desk = _register(launch, settings, given, conf)
        naming.release()
        with _kept(desk):
            return _carry_out(launch, _screen(launch, settings, wanted), side, desk)
    finally:
        tenancy.release()
        naming.release()
        claim.release()


@contextlib.contextmanager
def _kept(desk: Desk | None) -> Iterator[None]:
    """However the launch is left, its record says how it ended, and nobody is welcome any more."""
    try:
        yield
    except (LaunchError, signals.Stopped) as end:
        if desk:
            desk.tell(Ended(end.exit_status, log="", curve="", model=""))
        raise
    finally:
        if desk:
            with signals.held_back():
                desk.close()


def _dry_run(launch: plan.LaunchPlan, spec: job.JobSpec) -> int:
    if launch.pods is not None:
        from paddle._launch.kubernetes import whole  # which takes a moment to load

        if launch.prepare:
            _complain(
                f"paddle.py: {launch.prepare[-1]} has not run, and the package in this text is as it is now. "
                f"Before it is made from: {prepare.by_hand(spec)}"
            )
        return _print(whole.text(launch).rstrip())
    lines = [*plan.describe(launch), "a dry run: nothing was started or changed"]
    if spec.settings["format"] == "json":
        lines = [_as_json(_planned(launch)), *(_as_json(Said(line)) for line in lines)]
    return _print("\n".join(lines))


def _housed(launch: plan.LaunchPlan, tenancy: Tenancy) -> plan.LaunchPlan:
    """The launch with a place for its results that no other one has."""
    home, other = tenancy.take(launch.home, launch.name, launch.id)
    if other:
        _complain(f"paddle.py: {other} uses {launch.home / 'log'}, so results of this job go to {home}")
    return launch.housed(home)


def _screen(launch: plan.LaunchPlan, settings: Settings, wanted: re.Pattern[str] | None) -> Printer:
    shown, plain = (screen(own(sys.stdout), settings["format"], env) for env in (dict(os.environ), {}))
    if settings["show_logs"] or wanted is not None:
        merged, instead = (MergedScreen(one, Heads(launch), wanted) for one in (shown, plain))
        return Printer(merged, with_logs=True, plain=instead)
    return Printer(shown, plain=plain)


def _register(launch: plan.LaunchPlan, settings: Settings, given: Arguments, conf: Path) -> Desk | None:
    """Keep a record of this job. Without one a job can be launched, but not be left to itself."""
    try:
        return register(launch, settings, given, Path(os.path.realpath(conf)), os.environ)
    except JobError as error:
        if settings["detach"]:
            raise
        _complain(f"paddle.py: warning: {error}")
    return None


def _leave(side: background.Foreground, launch: plan.LaunchPlan, form: str) -> int:
    """Show how the job begins; once it trains, leave it to itself."""
    status = side.wait()
    if status is not None:
        return status
    where = f"process {side.launcher}; its output is in {side.log}"
    continues = f"{launch.name} continues in the background, {where}"
    if _announce(
        form,
        f"{continues}\n"
        f"  fab status --job={launch.name}\n"
        f"  fab logs --job={launch.name} --follow\n"
        f"  fab stop --job={launch.name}",
    ):
        _complain(f"paddle.py: {continues}. `fab stop --job={launch.name}` ends it")
    return 0


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
    token = secrets.token_hex(4)
    if spec.pods is not None:
        return plan.plan(spec, python=spec.pods.python, runtime=runtime, token=token)
    needs = None if spec.settings.hosts[0].is_local else remote.needs(spec.settings, runtime)
    return plan.plan(spec, python=sys.executable, runtime=runtime, token=token, remote=needs)


def _carry_out(
    launch: plan.LaunchPlan, printer: Printer, behind: background.Background | None, desk: Desk | None
) -> int:
    listeners = [listener for listener in (behind, desk) if listener is not None]
    shown = SharedScreen(printer, *listeners)
    running = Launch(launch, shown, carrier)
    if desk:
        desk.open(running.ask)
    shown.tell(_planned(launch))
    for line in plan.describe(launch):
        shown.say(line)

    def explain() -> None:
        if failed := explanation.failure(running, has_pods=launch.pods is not None):
            shown.tell(failed)
            _explain(failed, launch, running.unfit)

    has_pods = launch.pods is not None  # which take long to go: who waits for that knows why
    status = running.run(explain) if has_pods else running.run()
    if running.left:
        _complain(f"paddle.py: {running.left}")
    if shown.is_gone:
        _complain("paddle.py: its output is no longer read, so the job was stopped. Write it to a file.")
    if not has_pods:
        explain()
    if (
        not has_pods
        and running.has_trained
        and (go_on := again(launch, status, is_registered=desk is not None))
    ):
        shown.say(f"to go on from the snapshots: {go_on}")
    curve = None
    with contextlib.suppress(KeyboardInterrupt):  # the job is over; only the picture is given up
        curve = running.draw_curve()
    shown.say(_last_line(launch, status, curve, running))
    shown.tell(_ended(launch, status, curve, running))
    return status


def _planned(launch: plan.LaunchPlan) -> Planned:
    places = (
        PlannedNode(node.node, node.address, str(node.workspace), tuple(role.name for role in node.roles))
        for node in launch.nodes
    )
    return Planned(launch.name, launch.id, str(launch.home), tuple(places))


def _ended(launch: plan.LaunchPlan, status: int, curve: Path | None, running: Launch) -> Ended:
    log = str(launch.home / "log") if running.has_started else ""
    model = str(launch.home / "output") if (launch.saver, "output") in running.collected else ""
    return Ended(status, log, str(curve or ""), model, running.left)


def _explain(failed: Failed, launch: plan.LaunchPlan, unfit: Mapping[int, str]) -> None:
    """After a failure: what failed, where, its last lines, and where all of them are."""
    if failed.is_asked_for:
        return
    width, edges = width_of(sys.stderr), explanation.ROUND
    edges = edges if can_show(sys.stderr, edges) else explanation.PLAIN
    is_table = launch.remote is not None and unfit
    said = explanation.paragraphs(failed, launch, width, edges)
    lines = explanation.table(unfit, launch) if is_table else said
    for line in lines:
        _complain(line)


def _last_line(launch: plan.LaunchPlan, status: int, curve: Path | None, running: Launch) -> str:
    if not running.has_started:
        return f"ended with status {status}, before any role was started"
    head = "done" if status == 0 else f"ended with status {status}"
    if running.stands_still:
        return f"{head}: the disk of {launch.home} does not respond, so results are where they were made"
    left = list(_left(launch, running))
    parts = [f"{head}: logs in {launch.home / 'log'}"]
    parts += [f"loss curve {curve}"] if curve else []
    parts += _unfetched(launch, running) if running.has_trained else ()
    model = launch.home / "output"
    if (launch.saver, "output") in running.collected:
        parts.append(f"model in {model}")
    elif model.is_dir() and model != launch.nodes[launch.saver].workspace / "output":
        parts.append(f"the model in {model} is of an earlier job")
    parts += [f"not collected; still where it was made: {' '.join(left)}"] if left else []
    return ", ".join(parts)


def _unfetched(launch: plan.LaunchPlan, running: Launch) -> Iterator[str]:
    """Where a trainer's program may have written its model, if there is nothing in ``output``."""
    node = launch.nodes[launch.saver]
    if (launch.saver, "output") in running.collected or launch.pods is not None:
        return
    if not node.host.is_local or not (node.workspace / "output").is_dir():
        prefix = "" if node.host.is_local else f"{node.host.user}@{node.host.name}:"
        yield f"no output: what else trainer 0 wrote is in {prefix}{node.workspace}"


def _left(launch: plan.LaunchPlan, running: Launch) -> Iterator[str]:
    """The folders that could not be collected, and how the user reaches them."""
    for node, folder in (*((node, "log") for node in launch.nodes), (launch.nodes[launch.saver], "output")):
        place = node.workspace / folder
        if (node.node, folder) in running.collected:
            continue
        if node.host.is_local and place.is_dir():
            yield str(place)
        elif (
            launch.pods is None and not node.host.is_local and folder == "log"
        ):  # what else is there, only the node could say
            yield f"{node.host.user}@{node.host.name}:{place}"


def _announce(form: str, text: str) -> int:
    """Print what people are told before or after a launch; gives the exit status."""
    return _print("\n".join(map(_as_json, map(Said, text.splitlines()))) if form == "json" else text)


def _as_json(bulletin: Bulletin) -> str:
    return bulletins.line(bulletin, time.time())


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
