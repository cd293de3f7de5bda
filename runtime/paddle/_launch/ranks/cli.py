"""``paddle rank``: what ``start_mpi_train.sh`` runs once on every rank.

It must never decide what becomes of a job. What it says goes to standard error, which the engine shows; what
the processes print is in their logs.

Guarantee: what is wrong with the call is said in one paragraph, with status 2, before anything happened. A
rank's status is that of its process that failed first; 0 once its trainer, and all trainers that its
parameter server serves, have ended well.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from paddle._launch import manual, signals
from paddle._launch.arguments import parse_arguments, split_at_program
from paddle._launch.backends import carrier
from paddle._launch.cause import Cause
from paddle._launch.errors import UsageError
from paddle._launch.flags import check_ports, defaults_of, flags_of
from paddle._launch.parts import premises
from paddle._launch.parts.attending import attend, print_line
from paddle._launch.parts.ending import told
from paddle._launch.parts.running import Running
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan, count
from paddle._launch.ranks import machines, place, rally, roles
from paddle._launch.settings import RUNTIME
from paddle._streams import show
from paddle._visible import visible

COMMAND = "paddle rank"
_PROGRAM = "train.py"
_USUAL_MACHINES = "machines"
_SIGNALLED = 128
_DEFERENCE_S, _TO_THE_CULPRIT_S = 1.5, 10.0
# Trainers of other ranks may not have ended yet; and who broke the job may take a while to say how.
_PATIENT = Limits(finish_s=float("inf"), settle_s=_TO_THE_CULPRIT_S)
_USAGE = """
Usage: paddle rank [--name=value ...] [PROGRAM [arguments of the program]]

One rank of a job that mpirun or srun has started: a trainer that runs PROGRAM (train.py), and the parameter
server of its machine if it is the first rank there. start_mpi_train.sh runs it:
mpirun -hostfile machines -n 3 start_mpi_train.sh
Exit status: 0 success, 2 wrong usage or rank, 128 + n stopped by signal n, else that of what failed first.
"""


def main(arguments: Sequence[str]) -> int:
    """Run one command line; gives the exit status."""
    say = partial(_say, place.number(os.environ))
    return attend(lambda: _run(arguments, os.environ, say), say)


def _run(arguments: Sequence[str], environ: Mapping[str, str], say: Callable[[str], None]) -> int:
    own, program = split_at_program(arguments, "rank")
    given = parse_arguments(own, "rank", command=COMMAND)
    if given.help:
        show(manual.page(_USAGE, [("Flags:", flags_of("rank"))]).rstrip())
        return 0
    values = _values(given.values, environ)
    folder = premises.here()
    called = tuple(program) or (_PROGRAM,)
    if not (folder / called[0]).is_file():
        raise UsageError(f"there is no program {called[0]} in {folder}. Give its path, or copy it there.")
    here = place.read(environ)
    listed = _listed(values, folder, here)
    ranks = _meet(here, listed, values)
    with premises.workspace("paddle-rank-") as workspace:
        given_here = roles.Premises(
            python=sys.executable,
            runtime=RUNTIME,
            folder=folder,
            logs=folder / values["log_dir"],
            workspace=workspace,
            program=called,
            environ=environ,
        )
        launch = roles.plan(ranks, given_here)
        premises.empty_logs(launch, given_here.logs)
        say(_begun(ranks, launch))
        if here.rank == 0 and len(ranks.servers) < min(len(listed), here.size):
            say(
                f"{count(here.size, 'rank')} are on {len(ranks.servers)} of {count(len(listed), 'machine')}: "
                "mpirun fills the cores of one before it takes the next. `mpirun --map-by node`, or slots=1 "
                "behind each name in the file, gives each machine its own."
            )
        running = Running(launch, partial(carrier, token=here.token), _ignore, say, _PATIENT, say_when=True)
        status = running.run()
    if running.cause is not None:
        _explain(running.cause, running, launch, say)
        _let_others_leave_first(running.cause, running)
    return status


def _values(given: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """All flags: as they are given, or as a variable says, or as usual."""
    said = {
        flag.name: flag.parse(environ[word], word)
        for flag in flags_of("rank")
        for word in flag.env
        if environ.get(word)
    }
    return {**defaults_of("rank"), **said, **given}


def _listed(values: Mapping[str, Any], folder: Path, here: place.Place) -> tuple[str, ...]:
    """The machines of the job."""
    if names := values["machine_names"]:
        return tuple(names)
    asked = values["machines"]
    return machines.read(folder / (asked or _USUAL_MACHINES), is_needed=bool(asked) or here.has_others)


def _meet(here: place.Place, listed: Sequence[str], values: Mapping[str, Any]) -> roles.Ranks:
    ports = (values["port"], values["ports_num"], values["ports_num_for_sparse"])
    check_ports(*ports)
    met = rally.meet(here, listed, values["rally_port"] or sum(ports), values["rally_timeout"])
    return roles.Ranks(
        rank=here.rank, addresses=met.addresses, job=met.job, ports=ports, has_token=bool(here.secret)
    )


def _begun(ranks: roles.Ranks, launch: LaunchPlan) -> str:
    what = " and ".join(role.name for role in launch.nodes[0].roles)
    of = f"{count(len(ranks.addresses), 'trainer')} and {count(len(ranks.servers), 'pserver')}"
    logs = ", ".join(role.log for role in launch.nodes[0].roles)
    return f"{what} at {ranks.here}, of {of}; logs: {logs}"


def _ignore(_: Phase) -> None:
    """What phase a rank is in is seen in its logs."""


def _let_others_leave_first(cause: Cause, running: Running) -> None:
    """The engine's status is that of the rank that leaves first: it should be the one that broke the job. It
    then stops all others, so nobody waits for long."""
    is_blamed = running.is_blamed and not running.blamed_elsewhere
    is_killed = cause.signum is not None or cause.status > _SIGNALLED
    if not (is_blamed or is_killed or cause.detail):
        with contextlib.suppress(signals.Stopped):
            is_elsewhere = running.blamed_elsewhere or running.follows
            time.sleep(_TO_THE_CULPRIT_S if is_elsewhere else _DEFERENCE_S)


def _explain(cause: Cause, running: Running, launch: LaunchPlan, say: Callable[[str], None]) -> None:
    """After a failure: who failed, its last lines, and where all of them are."""
    said = cause.text.rstrip(".")
    if running.blamed_elsewhere:
        culprit, reason = next(iter(running.blamed_elsewhere.items()))
        say(f"{said}, because {culprit}, on another rank, broke the job: {reason}")
        return
    for line in told(said, cause, running, launch):
        say(line)


def _say(rank: str, text: str) -> None:
    print_line(f"{COMMAND} {rank}: {visible(text)}")
