"""``paddle pod``: what a container of a job runs.

It must never decide what becomes of a job: Kubernetes and the launcher do. Guarantee: what is wrong with the
call is said in one paragraph, with status 2. A trainer's pod ends with the status of its program, when that
has ended and its results were waited for; a parameter server's stays until it is taken away, once its process
has ended well, for what a StatefulSet has ends never. Where one that keeps snapshots was killed, its
container ends at once, as if all of it had been killed: it is begun again, and whether that is the role's end
is for who launched to decide.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from paddle._launch import manual, signals
from paddle._launch.arguments import parse_arguments, split_at_program
from paddle._launch.backends import Carrier, Post
from paddle._launch.errors import UsageError
from paddle._launch.events import Event, Signalled, StopAsked
from paddle._launch.flags import defaults_of, flags_of
from paddle._launch.kubernetes import names
from paddle._launch.kubernetes.inside import kernels, place, premises
from paddle._launch.kubernetes.inside.hearing import Hearing
from paddle._launch.kubernetes.inside.premises import COMMAND, Call
from paddle._launch.kubernetes.inside.telling import PodMachine, Teller
from paddle._launch.parts.attending import attend, print_line
from paddle._launch.parts.running import Running
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan
from paddle._launch.turn import Turn
from paddle._streams import show
from paddle._visible import visible

_PATIENT = Limits(finish_s=float("inf"))
_USAGE = """
Usage: paddle pod --role=pserver|trainer --name=JOB [--name=value ...] [PROGRAM [arguments of the program]]

Runs one parameter server, or one trainer with its PROGRAM (train.py), in a pod of a Kubernetes job. All pods
of a job get the same flags of paddle.py that describe the job: --pserver_num, --trainer_num, --port,
--snapshot_dir and so on. `python paddle.py --platform=kubernetes --dry_run` prints complete manifests.
Exit status: 0 success, 2 wrong usage or place, 128 + n stopped by signal n, else that of the program.
"""


def main(arguments: Sequence[str]) -> int:
    """Run one command line; gives the exit status."""
    return attend(lambda: _run(arguments, os.environ), lambda text: print_line(visible(f"{COMMAND}: {text}")))


def _run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    own, program = split_at_program(arguments, "launcher", "pod")
    given = parse_arguments(own, "launcher", "pod", command=COMMAND)
    if given.help:
        show(manual.page(_USAGE, [("Flags:", flags_of("pod"))]).rstrip())
        return 0
    values: dict[str, Any] = {**defaults_of("pod"), **given.values}
    call = _call(values, given.values, program)
    spec = premises.specify(call)
    rank = place.rank(values["rank"], environ, socket.gethostname(), spec.settings[f"{call.kind}_num"])
    address = place.address(environ) if call.kind == "pserver" else ""
    own_secrets = place.secrets(values["secrets"])
    premises.prepare(call, spec, rank, values["package"], values["template"])
    os.chdir(call.workspace)
    part = premises.part(spec, call.kind, rank, address)
    teller = Teller(reports=values["reports"])
    kernels.bring(environ, teller.say)
    teller.say(f"{call.kind}-{rank} of {call.name}: {names.address(call.name, call.kind, rank)} {address}")
    return _carry_out(part, call, teller, own_secrets, values["keep"])


def _call(values: Mapping[str, Any], given: Mapping[str, Any], program: Sequence[str]) -> Call:
    kind, name = values["role"], values["name"]
    for flag in ("role", "name"):
        if not values[flag]:
            raise UsageError(f"--{flag} is missing. `paddle pod --help` says what a pod is told.")
    if len(name) > names.LONGEST_JOB:
        raise UsageError(f"--name={name}: names of jobs have {names.LONGEST_JOB} letters at most.")
    launchers = {flag.name for flag in flags_of("launcher")}
    told = {flag: value for flag, value in given.items() if flag in launchers}
    default = (str(defaults_of("launcher")["job_program"]),)
    return Call(
        kind=kind,
        name=name,
        given=told,
        program=(tuple(program) or default) if kind == "trainer" else (),
        workspace=Path(str(told.get("job_workspace") or Path.cwd())).resolve(),
    )


def _carry_out(part: LaunchPlan, call: Call, teller: Teller, own: Mapping[str, str], keep_s: float) -> int:
    """Run the role to its end; tell how it was, and stay for who wants its results."""
    role = part.nodes[0].roles[0].name
    carry, tell = partial(_carrier, teller, own), partial(_tell, teller, role)
    running = _Role(part, carry, _ignore, tell, _PATIENT)
    running.teller = teller if call.kind == "pserver" and part.snapshots is not None else None
    is_over = threading.Event()
    hearing = Hearing(call.workspace, role, lambda: bool(teller.pid), running.pass_on)
    looking = threading.Thread(
        target=hearing.await_stop,
        args=[is_over, lambda: running.ask(StopAsked(by="the launcher"))],
        daemon=True,
    )
    looking.start()
    status = running.run()
    is_over.set()
    cause = running.cause
    if cause is not None and cause.signum is not None and not (call.workspace / names.STOP).exists():
        return status  # the pod is taken away
    if running.teller is not None and cause is not None and cause.signum is None and _was_killed(teller):
        teller.say(
            f"{cause.text}; its container ends, and goes on from the newest snapshot when it is begun again"
        )
        return status
    if cause is None or cause.signum is None:
        if cause is not None and not cause.role:
            teller.say(cause.text)
        teller.report(event="exit", role=role, status=status if teller.ended is None else teller.ended)
    teller.report(event="ended", why=cause.text if cause else "")
    teller.say(f"{role} ended with status {status}")
    _stay(call, teller, status, keep_s)
    return status


class _Role(Running):
    """The loop of a pod. A parameter server that is told to end tells its trainers that the job is over. One
    that keeps snapshots and whose pod is taken away is killed instead: another takes its place, and trainers
    wait for that. ``teller``: knows its process, then."""

    teller: Teller | None = None

    def ask(self, event: Event) -> None:
        """Take an event before all that waits."""
        if isinstance(event, Signalled) and self.teller is not None and self.teller.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.teller.pid, signal.SIGKILL)
        super().ask(event)


def _was_killed(teller: Teller) -> bool:
    """Whether the process of a role has said nothing itself of its end: a signal killed it, or its agent."""
    return teller.ended is None or teller.ended < 0


def _stay(call: Call, teller: Teller, status: int, keep_s: float) -> None:
    if keep_s and (status or call.kind == "trainer"):
        teller.say(f"logs and model are kept for {keep_s:.0f} s, or until the pod is deleted")
        _wait(keep_s)
    elif not status and call.kind == "pserver":
        teller.say("nothing is left to do; this pod stays until it is deleted")
        _wait(float("inf"))


def _wait(seconds: float) -> None:
    """Wait, unless this pod is to end."""
    end = time.monotonic() + seconds
    with contextlib.suppress(signals.Stopped):
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 3600.0))


def _carrier(teller: Teller, own: Mapping[str, str], launch: LaunchPlan, post: Post) -> Carrier:
    from paddle._launch.backends.crew import Crew  # what it takes to run loads slowly

    return Crew(launch, post, partial(PodMachine, teller, launch, Turn(launch.home)), own)


def _tell(teller: Teller, role: str, text: str) -> None:
    teller.say(text)
    teller.report(event="report", role=role, report={"report": "message", "text": text})


def _ignore(_: Phase) -> None:
    """What phase a pod is in is seen by what it prints."""
