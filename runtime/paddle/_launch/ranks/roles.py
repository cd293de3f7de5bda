"""The plan of one rank: its trainer, and the parameter server of its machine if it is the first there.

Pure: the same ranks at the same addresses give the same plans. It must never know how a process is started.

Guarantee: every machine that has a rank has one parameter server, all ranks agree on their order, and a rank
is the trainer of its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddle._launch.environ import SERVED, SHARED_PORTS, ClusterEnvironment, child_environment
from paddle._launch.parts.planning import part, trust
from paddle._launch.plan import JOB_VARIABLE, LaunchPlan, RolePlan, role_name

COMMENT = "paddle_cluster_pserver"  # by which people find the servers among their processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """The whole job as a rank knows it. ``addresses``: where each rank is. ``ports``: first port, dense
    ones, sparse ones. ``has_token``: all of them have it by themselves."""

    rank: int
    addresses: tuple[str, ...]
    job: str
    ports: tuple[int, int, int]
    has_token: bool

    @property
    def here(self) -> str:
        """This rank's address."""
        return self.addresses[self.rank]

    @property
    def servers(self) -> tuple[str, ...]:
        """Addresses with a parameter server."""
        return tuple(dict.fromkeys(self.addresses))

    @property
    def is_first_here(self) -> bool:
        """Whether the parameter server of its machine is this rank's."""
        return self.addresses.index(self.here) == self.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """Where this rank is. ``program``: what the trainer runs, with its arguments, in ``folder``; ``logs``:
    where what processes print goes; ``workspace``: the agent's, for this rank alone; ``runtime``: the folder
    that holds the package ``paddle``."""

    python: str
    runtime: Path
    folder: Path
    logs: Path
    workspace: Path
    program: tuple[str, ...]
    environ: Mapping[str, str]


def plan(ranks: Ranks, premises: Premises) -> LaunchPlan:
    """Plan one rank's part of the job."""
    roles = [_pserver(ranks, premises)] if ranks.is_first_here else []
    return part(  # which makes no token: every rank would make another
        ranks.job,
        ranks.here,
        (*roles, _trainer(ranks, premises)),
        workspace=premises.workspace,
        folder=premises.folder,
        ports=ranks.ports,
    )


def _pserver(ranks: Ranks, premises: Premises) -> RolePlan:
    port, dense, sparse = ranks.ports
    flags = {
        "host": ranks.here,
        "port": port,
        "ports_num": dense,
        "ports_num_for_sparse": sparse,
        "num_gradient_servers": len(ranks.addresses),
        "comment": COMMENT,
    }
    command = (premises.python, "-P", "-m", "paddle", "pserver")
    argv = (*command, *(f"--{name}={value}" for name, value in flags.items()))
    number = ranks.servers.index(ranks.here)
    return _role("pserver", number, argv, premises.logs / "pserver.log", ranks, premises)


def _trainer(ranks: Ranks, premises: Premises) -> RolePlan:
    log = "train.log" if ranks.is_first_here else f"train-{ranks.rank}.log"
    argv = (premises.python, "-u", *premises.program)
    return _role("trainer", ranks.rank, argv, premises.logs / log, ranks, premises)


def _role(
    kind: str, rank: int, argv: tuple[str, ...], log: Path, ranks: Ranks, premises: Premises
) -> RolePlan:
    port, dense, sparse = ranks.ports
    is_server = kind == "pserver"
    place = ClusterEnvironment(
        role="PSERVER" if is_server else "TRAINER",
        trainers=len(ranks.addresses),
        trainer_id=0 if is_server else rank,
        pservers=tuple(f"{address}:{port}" for address in ranks.servers),
        host=ranks.here,
        port=port,
        ports_num=dense,
        ports_num_for_sparse=sparse,
    )
    kept = {} if ranks.has_token else trust(premises.environ)
    own = {JOB_VARIABLE: ranks.job, SHARED_PORTS: ",".join(map(str, ranks.ports))}
    served = {SERVED: ranks.job} if is_server else {}
    return RolePlan(
        name=role_name(kind, rank),
        kind="pserver" if is_server else "trainer",
        node=0,
        rank=rank,
        argv=argv,
        env={**child_environment(place, log_dir=str(premises.logs)), **kept, **own, **served},
        prepend={"PYTHONPATH": str(premises.runtime)},
        log=str(log),
        folder=str(premises.folder),
    )
