"""A pod's workspace, and the plan of its part of the job.

The plan is that of the whole job, made of the same flags by the same code as where it was launched; the pod
takes its own node of it. Guarantee: a workspace is made once for each pod, also where its container is
started again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from paddle._launch import job
from paddle._launch.arguments import parse_arguments
from paddle._launch.errors import UsageError
from paddle._launch.flag import Value
from paddle._launch.flags import defaults_of, flags_of
from paddle._launch.job import JobSpec
from paddle._launch.kubernetes import package
from paddle._launch.plan import LaunchPlan, plan
from paddle._launch.settings import RUNTIME, Host, settled

COMMAND = "paddle pod"
_TOKEN = "pods"  # a job has one name in a namespace, and that tells it from others
_MADE = ".job.made"
_RECONNECT_S = 600.0  # another pod takes the place of one that is lost, perhaps on another machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What `paddle pod` was told. ``given``: flags of the launcher; ``program``: with its arguments."""

    kind: str
    name: str
    given: Mapping[str, Value]
    program: tuple[str, ...]
    workspace: Path


def specify(call: Call) -> JobSpec:
    """Describe the job that this pod is of."""
    values: dict[str, Any] = {**defaults_of("launcher"), **call.given, "platform": "kubernetes"}
    if call.program:
        values["job_program"] = call.program[0]
    names = [flag.name for flag in flags_of("launcher")]
    origins = {name: f"--{name}" if name in call.given else "default" for name in names}
    settings = job.in_pods(settled(values, origins, call.workspace), call.name)
    arguments = tuple(call.program[1:])
    trainers = parse_arguments(arguments, "trainer", command=COMMAND, pass_on=True)
    folder = settings["snapshot_dir"]
    patience = {"reconnect_timeout": _RECONNECT_S} if folder else {}
    return JobSpec(
        name=call.name,
        settings=settings,
        places=(call.workspace,) * len(settings.hosts),
        package=None,
        home=call.workspace,
        arguments=arguments,
        flags={**patience, **trainers.values, **job.shared(settings)},
        snapshots=Path(folder) if folder else None,
        encrypts=False,  # what is shown and trusted is here already
        notices=trainers.notices,
    )


def part(spec: JobSpec, kind: str, rank: int, address: str, runtime: Path = RUNTIME) -> LaunchPlan:
    """Plan what this pod does of a job. ``address``: its own, at which a parameter server listens."""
    whole = plan(spec, python=sys.executable, runtime=runtime, token=_TOKEN)
    role = whole.roles(kind)[rank]
    node = whole.nodes[role.node]
    argv = tuple(f"--host={address}" if word == f"--host={node.address}" else word for word in role.argv)
    own = msgspec.structs.replace(role, argv=argv)
    here = msgspec.structs.replace(node, host=Host("local"), roles=(own,))
    return msgspec.structs.replace(whole, nodes=(here,), has_token=False, ready_timeout_s=0.0, pods=None)


def prepare(call: Call, spec: JobSpec, rank: int, parts: str, template: str) -> None:
    """Make the workspace: of ``parts`` of a package, or of what an image has in ``template``."""
    made = call.workspace / _MADE
    try:
        call.workspace.mkdir(parents=True, exist_ok=True)
        if made.exists():
            return
        if parts:
            trainers = len(spec.settings.places.trainers)
            shard_data = str(spec.settings["shard_data"]).strip("/")
            package.unpack(Path(parts), call.workspace, shard_data, rank, trainers)
        elif template:
            _lead_to(_there(Path(template)), call.workspace)
        if call.program and not (call.workspace / call.program[0]).is_file():
            raise UsageError(
                f"there is no program {call.program[0]} in {template or call.workspace}. Give its path "
                "within the workspace, or bring it there."
            )
        made.touch()
    except OSError as error:
        raise UsageError(
            f"--job_workspace: {error.filename}: {error.strerror}. Give a folder that this pod may write to, "
            "such as one of a volume of kind emptyDir."
        ) from error


def _there(folder: Path) -> Sequence[Path]:
    if not folder.is_dir():
        raise UsageError(f"--template: the image has no folder {folder}. Give the one with the program.")
    return sorted(path for path in folder.iterdir() if path.name not in ("log", "output"))


def _lead_to(paths: Sequence[Path], workspace: Path) -> None:
    """What is in the image stays there, and the workspace leads to it; logs and model are the pod's own."""
    for path in paths:
        (workspace / path.name).symlink_to(path)
