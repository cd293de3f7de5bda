"""The plan of a launch: which role runs where, with which command, environment, ports and logs.

Pure: the same job gives the same plan. It must never know how a node is reached or a process started.

Guarantee: a plan is complete. Who carries it out decides nothing, and all carriers carry out the same one.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from paddle._launch.environ import (
    RESTARTS,
    SERVED,
    SHARED_PORTS,
    ClusterEnvironment,
    child_environment,
    meeting_words,
)
from paddle._launch.flags import BY_NAME
from paddle._launch.job import SNAPSHOT_FLAGS, JobSpec
from paddle._launch.kubernetes.pods import Pods
from paddle._launch.machines.shards import share
from paddle._launch.remote import Remote
from paddle._launch.settings import Host, Settings
from paddle._launch.workspace import PROGRAM, Entry

JOB_VARIABLE = "PADDLE_JOB_ID"  # by which a process shows whose it is
LONGEST_PRINT = 10
LAST_PORT = 65535
_SHOWN_NODES = 4
LOGS = {"pserver": "log/server.log", "trainer": "log/train.log"}


class RolePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One process. ``rank``: its number among those of its kind. ``env``: changes to the node's environment,
    None unsets. ``prepend``: to paths in it. ``folder``: where it runs, if that is not the workspace."""

    name: str
    kind: Literal["pserver", "trainer"]
    node: int
    rank: int = 0
    argv: tuple[str, ...]
    env: dict[str, str | None]
    prepend: dict[str, str]
    log: str
    folder: str = ""


class NodePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One node: how it is named, the address of its pserver, its workspace and what runs in it. ``life``: of
    the job (lives.py); in a later one the workspace is as the one before has left it."""

    node: int
    host: Host
    address: str
    workspace: Path
    roles: tuple[RolePlan, ...]
    life: int = 1


class LaunchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A whole launch.

    ``prepare``: the command that makes the package, once, where it is launched. ``package``: what is sent to
    the workspaces, or None. ``home``, ``snapshots`` and ``encrypts``: see JobSpec. ``shard_data``: a folder
    of the package, of which each node is sent its shard (shards.py). ``remote``: None where all nodes are
    embedded in this machine. ``max_restart`` and ``min_trainers``: see again/restarts.py and supervisor.py.
    ``has_token``: the job makes its own; without, processes have what the launcher's environment names.
    ``program``: what trainers run. ``pods``: what is asked of nodes that are pods.
    """

    name: str
    nodes: tuple[NodePlan, ...]
    prepare: tuple[str, ...]
    package: tuple[Entry, ...] | None
    home: Path
    snapshots: Path | None
    ports: tuple[int, int, int]
    origins: tuple[str, ...]
    ready_timeout_s: float
    encrypts: bool = False
    has_token: bool = True
    program: str = PROGRAM
    shard_data: str = ""
    remote: Remote | None = None
    max_restart: int = 0
    min_trainers: int = 0
    pods: Pods | None = None

    def sent_to(self, node: int) -> tuple[Entry, ...]:
        """What of the package a node is sent."""
        return share(self.package or (), self.shard_data, node, [role.node for role in self.roles("trainer")])

    @property
    def saver(self) -> int:
        """The node of trainer 0, whose ``output`` is the model."""
        return self.roles("trainer")[0].node

    @property
    def id(self) -> str:
        """What tells this job from any other: processes of it show it as ``JOB_VARIABLE``."""
        shown = [role.env.get(JOB_VARIABLE) for node in self.nodes for role in node.roles]
        return next(filter(None, shown), self.name)

    def again(self, life: int) -> LaunchPlan:
        """The same launch in a later life: what a pserver serves is that one, and nothing is sent."""
        nodes = [
            msgspec.structs.replace(node, life=life, roles=tuple(_again(role, life) for role in node.roles))
            for node in self.nodes
        ]
        return msgspec.structs.replace(self, nodes=tuple(nodes), package=None)

    def housed(self, home: Path) -> LaunchPlan:
        """The same launch, with its results in another place."""
        return msgspec.structs.replace(self, home=home)

    def roles(self, kind: str) -> tuple[RolePlan, ...]:
        """All roles of a kind, by rank."""
        found = (role for node in self.nodes for role in node.roles if role.kind == kind)
        return tuple(sorted(found, key=lambda role: role.rank))


def _again(role: RolePlan, life: int) -> RolePlan:
    env = {**role.env, RESTARTS: str(life - 1)}
    if served := role.env.get(SERVED):
        env[SERVED] = f"{served}/{life}"
    return msgspec.structs.replace(role, env=env)


def plan(
    spec: JobSpec, *, python: str, runtime: Path, token: str, remote: Remote | None = None
) -> LaunchPlan:
    """Plan a job: a pserver, a trainer or both on every node (places.py).

    ``python``: the interpreter here. ``runtime``: the folder here that holds the package ``paddle``.
    ``token``: tells this job from others of the same name. ``remote``: where nodes are other machines.
    """
    settings = spec.settings
    addresses = [address_of(host, node) for node, host in enumerate(settings.hosts)]
    theirs = (remote.pythons[0], remote.runtime) if remote else (python, runtime)
    writer = _Writer(spec, addresses, *theirs, f"{spec.name}-{token}")
    return LaunchPlan(
        name=spec.name,
        nodes=tuple(
            NodePlan(
                node=node,
                host=host,
                address=addresses[node],
                workspace=spec.places[node],
                roles=tuple(writer.roles(node)),
            )
            for node, host in enumerate(settings.hosts)
        ),
        prepare=preparation(spec, python),
        package=spec.package,
        shard_data=settings["shard_data"].strip("/"),
        home=spec.home,
        snapshots=spec.snapshots,
        ports=(settings["port"], settings["ports_num"], settings["ports_num_for_sparse"]),
        origins=tuple(settings.origins[name] for name in ("port", "ports_num", "ports_num_for_sparse")),
        ready_timeout_s=settings["connect_timeout"],
        encrypts=spec.encrypts,
        program=settings["job_program"],
        remote=remote,
        max_restart=settings["max_restart"],
        min_trainers=settings["min_trainers"],
        pods=spec.pods,
    )


def preparation(spec: JobSpec, python: str) -> tuple[str, ...]:
    """The command that makes the package; empty where there is nothing to prepare."""
    script = spec.settings["job_prepare"]
    return (python, "-u", script) if script else ()


def role_name(kind: str, rank: int) -> str:
    """The name of a role: that of trainer 1 is trainer-1."""
    return f"{kind}-{rank}"


def trainer_number(name: str) -> int | None:
    """The number of a trainer, by its role's name; None of any other role."""
    kind, _, rank = name.rpartition("-")
    return int(rank) if kind == "trainer" else None


class _Writer:
    """Writes the roles of one job."""

    def __init__(self, spec: JobSpec, addresses: list[str], python: str, runtime: Path, job_id: str) -> None:
        self._spec = spec
        self._addresses = addresses
        self._python = python
        self._job_id = job_id
        self._program = (python, "-u", spec.settings["job_program"], *spec.arguments)
        self._prepend = {"PYTHONPATH": str(runtime)}
        if libraries := spec.settings["ld_library_path"]:
            self._prepend["LD_LIBRARY_PATH"] = libraries

    def roles(self, node: int) -> Iterator[RolePlan]:
        """Those of a node."""
        places = self._spec.settings.places
        if node in places.pservers:
            yield self._pserver(node, places.pservers.index(node))
        if node in places.trainers:
            yield self._trainer(node, places.trainers.index(node))

    def _pserver(self, node: int, rank: int) -> RolePlan:
        settings = self._spec.settings
        argv = (
            self._python,
            "-P",
            "-m",
            "paddle",
            "pserver",
            *_pserver_flags(settings, self._addresses[node]),
            *_snapshot_flags(self._spec, node),
        )
        role = self._role("pserver", node, rank, argv)
        return msgspec.structs.replace(role, env={**role.env, SERVED: self._job_id})

    @property
    def _shared_ports(self) -> str:
        settings = self._spec.settings
        names = ("port", "ports_num", "ports_num_for_sparse")
        return ",".join(str(settings[name]) for name in names)

    def _trainer(self, node: int, rank: int) -> RolePlan:
        return self._role("trainer", node, rank, self._program)

    def _role(
        self, kind: Literal["pserver", "trainer"], node: int, rank: int, argv: tuple[str, ...]
    ) -> RolePlan:
        settings, flags = self._spec.settings, self._spec.flags
        places, addresses = settings.places, self._addresses
        cluster = ClusterEnvironment(
            role="PSERVER" if kind == "pserver" else "TRAINER",
            trainers=len(places.trainers),
            trainer_id=rank if kind == "trainer" else 0,
            pservers=tuple(f"{addresses[each]}:{settings['port']}" for each in places.pservers),
            host=self._addresses[node],
            port=settings["port"],
            ports_num=settings["ports_num"],
            ports_num_for_sparse=settings["ports_num_for_sparse"],
        )
        threads = flags.get("trainer_count", 1)
        env = child_environment(cluster, trainer_count=int(str(threads)), flags=flags)
        return RolePlan(
            name=role_name(kind, rank),
            kind=kind,
            node=node,
            rank=rank,
            argv=argv,
            env={**env, **self._meeting(kind), JOB_VARIABLE: self._job_id, SHARED_PORTS: self._shared_ports},
            prepend=self._prepend,
            log=LOGS[kind],
        )

    def _meeting(self, kind: str) -> dict[str, str]:
        """Where trainers that are programs of fleet meet: trainer 0 holds the place, on the port behind those
        of pservers."""
        settings = self._spec.settings
        trainers = settings.places.trainers
        port = sum(int(settings[name]) for name in ("port", "ports_num", "ports_num_for_sparse"))
        if kind != "trainer" or len(trainers) == 1 or port > LAST_PORT:
            return {}
        return meeting_words(f"{self._addresses[trainers[0]]}:{port}")


def address_of(host: Host, node: int) -> str:
    """Where a node's pserver listens, as trainers are told."""
    if not host.is_local:
        return host.name
    return f"127.0.{node // 254}.{node % 254 + 1}"  # all of 127/8 is this machine's, without any set-up


def _pserver_flags(settings: Settings, address: str) -> Iterator[str]:
    names = ["port", "ports_num", "ports_num_for_sparse"]
    of_memory = ("memory_limit", "gradient_memory")
    if_set = ("barrier_timeout", "log_period_server", "min_trainers", *of_memory, "comment")
    names += [name for name in if_set if settings.origins[name] != "default"]
    is_alone = settings.hosts[0].is_local or settings.hosts[0].is_pod
    yield f"--host={address}" if is_alone else f"--nics={BY_NAME['nics'].render(settings['nics'])}"
    for name in names:
        yield f"--{name}={BY_NAME[name].render(settings[name])}"
    yield f"--num_gradient_servers={len(settings.places.trainers)}"


def _snapshot_flags(spec: JobSpec, node: int) -> Iterator[str]:
    """A pserver runs in its workspace, where a relative folder is its own; in another each node has one."""
    if spec.snapshots is None:
        return
    own = spec.snapshots / f"node-{node}" if spec.snapshots.is_absolute() else spec.snapshots
    yield f"--snapshot_dir={own}"
    for name in SNAPSHOT_FLAGS:
        if spec.settings.origins[name] != "default":
            yield f"--{name}={BY_NAME[name].render(spec.settings[name])}"


def agent_order(
    node: NodePlan, lease_s: float, secrets: Mapping[str, str], python: str | None = None
) -> dict[str, Any]:
    """Write a node's plan as its agent reads it. ``secrets``: its own, in no plan that is shown. ``python``:
    the one that the node has, where that is not the first that was planned."""
    roles = {
        role.name: {
            "argv": (python or role.argv[0], *role.argv[1:]),
            "env": role.env,
            "prepend": role.prepend,
            "log": role.log,
            **({"folder": role.folder} if role.folder else {}),
            **({"hears": True} if role.kind == "pserver" or role.rank == 0 else {}),
        }
        for role in node.roles
    }
    return {
        "do": "plan",
        "node": node.node,
        "workspace": str(node.workspace),
        "life": node.life,
        "lease_s": lease_s,
        "secrets": dict(secrets),
        "roles": roles,
    }


def count(number: int, word: str) -> str:
    """Say how many there are of something."""
    return f"{number} {word}" + "s" * (number != 1)


def describe(launch: LaunchPlan) -> list[str]:
    """Say the plan in at most ``LONGEST_PRINT`` lines."""
    nodes, carrier = launch.nodes, "local"
    if launch.remote is not None:
        carrier = "SSH" if launch.remote.mpirun is None else "MPI"
    if launch.pods is not None:
        carrier = "Kubernetes"
    what = [count(len(launch.roles(kind)), kind) for kind in LOGS]
    shards = f", each sent its shard of {launch.shard_data}" if launch.shard_data else ""
    lines = [f"{launch.name}: {' and '.join(what)} on {count(len(nodes), f'{carrier} node')}{shards}"]
    lines += _node_lines(nodes)
    lines.append(f"  ports    {_ports(launch)}")
    if launch.prepare:
        lines.append(f"  prepare  {shlex.join(launch.prepare)}, once, before all else")
    lines.append(f"  trainer  {shlex.join(launch.roles('trainer')[0].argv)}")
    if launch.snapshots is not None:
        place = "" if launch.snapshots.is_absolute() else " of every workspace"
        lines.append(f"  snapshots in {launch.snapshots}{place}")
    lines.append(f"  results  log/node-*/{{train,server}}.log, *.INFO and output/ in {launch.home}")
    return lines


def _node_lines(nodes: Sequence[NodePlan]) -> Iterator[str]:
    """All nodes, if they are few; else some, and which are like them, in at most as many lines."""
    last = len(nodes) - 1
    kinds = [[role.kind for role in node.roles] for node in nodes]
    turns = [at for at in range(1, len(nodes)) if kinds[at] != kinds[at - 1]]
    if len(nodes) <= _SHOWN_NODES:
        shown = list(range(len(nodes)))
    elif not turns:
        shown = [0, 1, last]
    else:
        shown = [0, turns[0]] if len(turns) == 1 else [0, 1, 2]
    for at, following in zip(shown, [*shown[1:], len(nodes)], strict=True):
        node, roles = nodes[at], " ".join(role.name for role in nodes[at].roles)
        yield f"  node {node.node:<3} {node.address:<15} {roles}  in {node.workspace}"
        if (first := at + 1) < following:
            which = f"nodes {first} to {following - 1}" if first < following - 1 else f"node {first}"
            alike = " likewise" if all(each == kinds[at] for each in kinds[first:following]) else ""
            yield f"  ... {which}{alike}"


def _ports(launch: LaunchPlan) -> str:
    port, dense, sparse = launch.ports
    origins = ", ".join(dict.fromkeys(launch.origins))
    tls = ", TLS" if launch.encrypts else ""
    return f"{_span(port, dense)} dense, {_span(port + dense, sparse)} sparse ({origins}){tls}"


def _span(first: int, count: int) -> str:
    return "none" if count == 0 else str(first) if count == 1 else f"{first}-{first + count - 1}"
