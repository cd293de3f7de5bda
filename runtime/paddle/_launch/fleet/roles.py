"""The plan of a job of the fleet generation: the program once for each of its processes that is here.

Pure: the same cluster gives the same plan. It must never know how a process is started.

Guarantee: a process finds its place in the words of every generation that can say it, and nothing of an older
job or of a proxy shines through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from paddle._launch.dialects import assignments
from paddle._launch.environ import ClusterEnvironment, child_environment, meeting_words
from paddle._launch.fleet.call import Call
from paddle._launch.fleet.cluster import Cluster, host_of
from paddle._launch.parts.planning import part, trust
from paddle._launch.plan import JOB_VARIABLE, LaunchPlan, RolePlan, role_name

_LOGS = {"pserver": "serverlog", "trainer": "workerlog"}
_PROXIES = ("http_proxy", "https_proxy")  # processes of one job speak to each other directly


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """Where the launcher is. ``folder``: where it was called; ``workspace``: the agent's, for this job alone;
    ``runtime``: the folder that holds the package ``paddle``."""

    python: str
    runtime: Path
    folder: Path
    workspace: Path
    environ: Mapping[str, str]


def plan(call: Call, cluster: Cluster, premises: Premises, job: str) -> LaunchPlan:
    """Plan this machine's part of a job. ``job``: tells it from others."""
    writer = _Writer(call, cluster, premises, job)
    return part(
        job,
        cluster.here,
        tuple(writer.roles()),
        workspace=premises.workspace,
        folder=premises.folder,
        has_token=cluster.is_whole,  # else each machine's launcher would make another
    )


class _Writer:
    """Writes the roles of one machine."""

    def __init__(self, call: Call, cluster: Cluster, premises: Premises, job: str) -> None:
        self._cluster, self._premises, self._job = cluster, premises, job
        self._meets = call.with_gloo or premises.environ.get("PADDLE_WITH_GLOO") or cluster.meets
        self._argv = (premises.python, "-u", call.script, *call.arguments)
        self._logs = premises.folder / call.log_dir
        self._is_alone = call.is_alone

    def roles(self) -> Iterator[RolePlan]:
        cluster = self._cluster
        for place, rank in enumerate(cluster.own_servers):
            yield self._role("pserver", rank, place, cluster.servers[rank], {})
        for place, rank in enumerate(cluster.own_workers):
            # They compute on the CPU; programs look up the number all the same.
            yield self._role("trainer", rank, place, cluster.workers[rank], {"FLAGS_selected_gpus": "0"})

    def _role(
        self, kind: Literal["pserver", "trainer"], rank: int, place: int, endpoint: str, more: dict[str, str]
    ) -> RolePlan:
        is_server = kind == "pserver"
        place_in_job = ClusterEnvironment(
            role="PSERVER" if is_server else "TRAINER",
            trainers=len(self._cluster.workers),
            trainer_id=0 if is_server else rank,
            pservers=self._cluster.servers,
            host=host_of(endpoint),
            trainer_endpoints=self._cluster.workers,
        )
        port = int(endpoint.rpartition(":")[2]) if is_server else place_in_job.common_port
        place_in_job = replace(place_in_job, port=port)
        return RolePlan(
            name=role_name(kind, rank),
            kind=kind,
            node=0,
            rank=rank,
            argv=self._argv,
            env={
                **child_environment(place_in_job, log_dir=str(self._logs)),
                **self._words(),
                **(_alone(place_in_job, endpoint) if self._is_alone else {}),
                **more,
            },
            prepend={"PYTHONPATH": str(self._premises.runtime)},
            log=str(self._logs / f"{_LOGS[kind]}.{place}"),
            folder=str(self._premises.folder),
        )

    def _words(self) -> dict[str, str | None]:
        """What both kinds are told beside their place."""
        cluster = self._cluster
        kept = {} if cluster.is_whole else trust(self._premises.environ)
        return {
            **dict.fromkeys(_PROXIES),
            "PADDLE_HETER_TRAINER_IP_PORT_LIST": "",
            **meeting_words(cluster.gloo, self._meets),
            "PADDLE_GLOO_FS_PATH": str(self._premises.workspace / "gloo"),
            **kept,
            JOB_VARIABLE: self._job,
        }


def _alone(place: ClusterEnvironment, endpoint: str) -> dict[str, str | None]:
    """What one process without servers is told, in place of the words of a cluster: as 2.6 tells it."""
    ranks = ("PADDLE_TRAINER_ID", "PADDLE_GLOBAL_RANK", "PADDLE_LOCAL_RANK", "PADDLE_RANK_IN_NODE")
    words = dict.fromkeys(ranks, "0")
    words |= dict.fromkeys(("PADDLE_TRAINERS_NUM", "PADDLE_GLOBAL_SIZE", "PADDLE_LOCAL_SIZE"), "1")
    words |= dict.fromkeys(("PADDLE_CURRENT_ENDPOINT", "PADDLE_TRAINER_ENDPOINTS"), endpoint)
    return {**dict.fromkeys(assignments(place)), **words, "PADDLE_NNODES": "1"}
