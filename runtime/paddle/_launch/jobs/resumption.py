"""Resumption: the job that goes on from the snapshots of one that has ended (``--resume``).

It must never know a snapshot: pservers find theirs, in the workspaces of that job or where its
``--snapshot_dir`` leads.

Guarantee: it is the same job, with the flags and arguments that the first one had, whatever conf.py says by
now, but for those that are given anew; and its results come to where the first one's came.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from paddle._launch.arguments import Arguments
from paddle._launch.errors import JobError, UsageError
from paddle._launch.flags import BY_NAME
from paddle._launch.jobs.index import Job, Standing
from paddle._launch.plan import LaunchPlan


def resumed(given: Arguments, job: Job) -> Arguments:
    """Give the arguments of the job that goes on from ``job``, with those of this call over them."""
    record = job.record
    if job.standing in (Standing.RUNS, Standing.ELSEWHERE):
        raise JobError(
            f"{record.id} runs still, process {record.launcher.pid} on {record.launcher.machine}: two jobs "
            f"cannot train in the same workspaces. `fab stop --job={record.id}` ends it."
        )
    sent = [name for name in ("job_dispatch_package", "job_workspace") if given.values.get(name)]
    if sent:
        raise UsageError(f"--{sent[0]} and --resume: a job goes on in the workspaces it has. Leave one out.")
    if record.plan.snapshots is None:
        raise JobError(
            f"{record.id} kept no snapshots, so there is nothing to go on from: it had no --snapshot_dir. "
            "To train anew, launch its package again, with --snapshot_dir=kept."
        )
    own = [node.workspace for node in record.plan.nodes if node.host.is_local]
    gone = [workspace for workspace in own if not workspace.is_dir()]
    if gone:
        raise JobError(f"{record.id} cannot go on: its workspace {gone[0]} is not there any more.")
    values = {name: BY_NAME[name].parse(text) for name, text in record.flags.items() if name in BY_NAME}
    places = {"conf": str(record.conf), "job_workspace": str(deployed(record.plan)), "job_prepare": ""}
    others = (*_others_than(given.others, record.arguments), *given.others)
    return replace(given, values={**values, **places, **given.values}, others=others)


def _others_than(anew: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    """Give the arguments of before without those given anew, as ``--name=value`` or ``--name value``."""
    names = {token.partition("=")[0] for token in anew if token.startswith("--")}
    is_replaced = False
    for token in before:
        is_flag = token.startswith("--")
        if is_flag:
            is_replaced = token.partition("=")[0] in names
        if not is_replaced:
            yield token
        elif not is_flag or "=" in token:  # no value of it follows
            is_replaced = False


def deployed(launch: LaunchPlan) -> Path:
    """Give the folder of a job's workspaces, as --job_workspace takes it."""
    place = launch.nodes[0].workspace
    return place.parent if place.name == "node-0" else place


def again(launch: LaunchPlan, status: int, *, is_registered: bool) -> str:
    """How the next launch finds the snapshots of this one; empty where there is no reason for one, or it
    would be as wrong as this one was."""
    snapshots = launch.snapshots
    if snapshots is None or status in (0, UsageError.exit_status):
        return ""
    if is_registered:
        return f"python paddle.py --resume={launch.name}"
    if snapshots.is_absolute():
        return f"the same command again, with --snapshot_dir={snapshots}"
    command = f"python paddle.py --job_workspace={shlex.quote(str(deployed(launch)))}"
    return f"{command} --snapshot_dir={shlex.quote(str(snapshots))}, with the other flags of this job"
