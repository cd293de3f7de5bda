"""``python -m paddle.distributed.launch`` and ``fleetrun``: from a command line to the exit status of a job.

It must never decide what becomes of a job. What it prints goes to standard error, as it always did; what the
processes print is in their logs.

Guarantee: what is wrong with the call is said in one paragraph, with status 2, before anything happened. The
status of a job is that of the process that failed first, 0 only if all trainers ended well.
"""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from paddle._insistence import settle
from paddle._launch import manual, short_file
from paddle._launch.backends import carrier
from paddle._launch.errors import UsageError
from paddle._launch.flags import flags_of
from paddle._launch.fleet import call, cluster, gathering, roles
from paddle._launch.fleet.heralding import Heralding
from paddle._launch.fleet.ports import Ports
from paddle._launch.parts import premises
from paddle._launch.parts.attending import attend, print_line
from paddle._launch.parts.ending import failed, told
from paddle._launch.parts.running import Running
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan, RolePlan, count
from paddle._launch.settings import RUNTIME
from paddle._streams import CannotPrint, announce, show
from paddle._visible import visible

_HEAD = """
usage: fleetrun [flags] PROGRAM [arguments of the program]
       python -m paddle.distributed.launch [flags] PROGRAM [arguments of the program]

Starts PROGRAM as parameter servers and as trainers, tells each its role, and exits when the trainers have
ended. For several machines, give each the same command: --servers and --workers list all processes,
or the machines meet at --master and each says how many it starts.
"""
_TAIL = """
Exit status:
  0    all trainers succeeded
  2    wrong command; nothing was started
  129, 130, 143   stopped by HUP, INT (Ctrl+C), or TERM
  else that of the process that failed first, 128 + n if signal n killed it
"""
_NAME = "paddle.distributed.launch"
_FINISHING = "all workers exit, going to finish parameter server and heter_worker."
_FINISHED = "all parameter server are killed"
_PATIENT = Limits(finish_s=float("inf"))  # trainers of other machines may not have ended yet
_LOST_AFTER = "PADDLE_LOST_AFTER"
_TOKEN_FILE = "PADDLE_TOKEN_FILE"
_SIGNALLED = 128  # what a signal killed has nothing more to say
# With all of these a platform has started this process as one of a job, and told it which.
_BY_PLATFORM = ("PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, this program's own if none is given; gives the exit status."""
    return attend(lambda: _run(sys.argv[1:] if argv is None else argv, os.environ), _say)


def _run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    if all(environ.get(name) for name in _BY_PLATFORM) and (program := call.program_of(argv)):
        _become(program)
    asked = call.read(argv, environ)
    if asked is None:
        return _print_help()
    for notice in asked.notices:
        _say(notice)
    folder = premises.here()
    if not (folder / asked.script).is_file():
        raise UsageError(f"there is no program {asked.script} in {folder}. Give its path.")
    with Ports(os.getpid()) as ports:
        placed = _placed(asked, argv, environ, ports)
        ports.let_go()
        return _train(asked, placed, folder, environ)


def _train(asked: call.Call, placed: cluster.Cluster, folder: Path, environ: Mapping[str, str]) -> int:
    """Run what of a job is here."""
    with premises.workspace("paddle-launch-") as workspace:
        given = roles.Premises(
            python=sys.executable, runtime=RUNTIME, folder=folder, workspace=workspace, environ=environ
        )
        launch = roles.plan(asked, placed, given, f"fleet-{secrets.token_hex(4)}")
        premises.empty_logs(launch, folder / asked.log_dir)
        if placed.is_whole:
            return _carry_out(launch, Limits(), None, _print_here if asked.is_alone else None)
        with Heralding(sys.executable, RUNTIME, placed, folder, environ, _silent_s(environ)) as herald:
            return _carry_out(launch, _PATIENT, herald)


def _placed(
    asked: call.Call, argv: Sequence[str], environ: Mapping[str, str], ports: Ports
) -> cluster.Cluster:
    """Who of the job is where."""
    appointment = asked.appointment
    if appointment is None:
        return cluster.settle(asked, environ, ports.take, cluster.is_own)
    if not appointment.master:
        (port,) = ports.take(1)
        ports.let_go()
        appointment = replace(appointment, master=f"{asked.host or gathering.reachable_address()}:{port}")
        words = shlex.join([f"--master={appointment.master}", *argv])
        _say(f"call on the others: python -m {_NAME} {words}")
    number = asked.server_num + asked.worker_num + 1
    own = tuple(cluster.ports_of(number, environ, partial(ports.take, host="")))
    part = gathering.Part(
        host=asked.host,
        servers=own[: asked.server_num],
        workers=own[asked.server_num : -1],
        gloo=asked.http_port or own[-1],
    )
    parts, rank = gathering.Gathering(appointment, _secret(environ), _say).meet(part)
    placed = gathering.place_of(parts, rank)
    kinds = f"{count(len(placed.servers), 'server')} and {count(len(placed.workers), 'worker')}"
    hosts = ", ".join(part.host for part in parts)
    _say(f"{count(len(parts), 'machine')} with {kinds}: {hosts}; this is number {rank}")
    return placed


def _secret(environ: Mapping[str, str]) -> bytes:
    """The token by which machines that meet believe each other; empty where there is none."""
    path = environ.get(_TOKEN_FILE, "")
    try:
        return short_file.read(Path(path).expanduser()).strip() if path else b""
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"{_TOKEN_FILE}: {path}: {getattr(error, 'strerror', None) or error}. Give the "
            "path of a file that can be read, the same on all machines."
        ) from error


def _carry_out(
    launch: LaunchPlan,
    limits: Limits,
    herald: Heralding | None,
    printed: Callable[[str], None] | None = None,
) -> int:
    servers, trainers = launch.roles("pserver"), launch.roles("trainer")

    def enter(phase: Phase) -> None:
        if phase is Phase.TRAIN:
            _tell_begin("server", servers)
            _tell_begin("worker", trainers)
        elif phase is Phase.FINISH and trainers and servers:
            _say(_FINISHING)
        elif phase is Phase.STOP and herald is not None:
            _herald(herald, running, launch)

    running = Running(launch, carrier, enter, _say, limits, printed=printed)
    if herald is not None:
        herald.on_lost = running.hear_of
    status = running.run()
    _explain(running, launch)
    if running.cause is None and printed is None:
        _say(_FINISHED)
    return status


def _silent_s(environ: Mapping[str, str]) -> int:
    """After how long a machine that answers nothing is lost."""
    text = environ.get(_LOST_AFTER) or "40"
    if not (text.isdecimal() and 5 <= int(text) <= 86_400):
        raise UsageError(f"{_LOST_AFTER} is whole seconds, from 5 to 86400, not {text!r}. Unset it for 40.")
    return int(text)


def _tell_begin(kind: str, started: tuple[RolePlan, ...]) -> None:
    if started:
        first, last = started[0].log, started[-1].log
        where = first if len(started) == 1 else f"{first} to {Path(last).name}"
        _say(f"{count(len(started), kind)} started on this machine, logs in {where}")


def _herald(herald: Heralding, running: Running, launch: LaunchPlan) -> None:
    """Have all servers know why the job ends, unless it is they who have told it."""
    cause = running.cause
    if cause is None or running.blamed_elsewhere:
        return
    here, role = launch.nodes[0].address, failed(cause, launch)
    if role is None:
        text = f"the launcher at {here} was {cause.text}" if cause.signum else f"{here}: {cause.text}"
        herald.tell(text, None, has_met=running.has_met, hurries=cause.signum is not None)
        return
    lines = running.last_lines(role.name) if cause.status < _SIGNALLED else ()
    text = ": ".join([f"{cause.text} at {here}", *lines[-1:]])
    fallen = (role.rank, "") if role.kind == "trainer" else (None, role.name)
    herald.tell(text, *fallen, has_met=running.has_met)


def _explain(running: Running, launch: LaunchPlan) -> None:
    """After a failure: who failed, its last lines, and where all of them are."""
    cause = running.cause
    if cause is None:
        return
    if running.blamed_elsewhere:
        culprit, reason = next(iter(running.blamed_elsewhere.items()))
        _say(f"{culprit}, on another machine, broke the job: {reason}")
        _say("all processes of the job on this machine are stopped; what they printed is in their logs")
        return
    role = failed(cause, launch)
    if role is None or cause.signum is not None:
        where = "" if cause.signum is not None else f"{launch.nodes[0].address}: "
        _say(f"{where}{cause.text.rstrip('.')}; all processes of the job on this machine are stopped")
        return
    head = f"{cause.text} ({Path(role.log).name}), so the job is over"
    for line in told(head, cause, running, launch):
        show = print_line if line.startswith(" ") else _say
        show(visible(line))


def _become(program: Sequence[str]) -> NoReturn:
    """Run the program in this process's place: who started this one watches it."""
    sys.stdout.flush()
    settle()
    os.execv(sys.executable, [sys.executable, "-u", *program])


def _print_help() -> int:
    page = manual.page(_HEAD, [("Flags:", flags_of("fleetrun"))], _TAIL)
    try:
        show(page.rstrip())
    except CannotPrint as error:
        _say(str(error.strerror))
        return 1
    return 0


def _print_here(lines: str) -> None:
    """What the one process prints, here, too, as long as it can be; its log has all of it."""
    announce(lines)


def _say(text: str) -> None:
    print_line(f"{_NAME}: {visible(text)}")
