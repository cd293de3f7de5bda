"""What a process is told through its environment: the flags of ``paddle.init`` and the place in a cluster.

Faces read here, the launcher writes here. It must never know how a process is started or what it then does;
an environment is a mapping given as an argument.

Guarantee: a child given ``child_environment(cluster)`` reads the same cluster in whichever generation's words
it looks, and nothing of an older job or a machine's tuning shines through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from paddle import _blas
from paddle._launch.dialects import VARIABLES, ClusterEnvironment, assignments, check_trainer_id, read
from paddle._launch.errors import FlagError
from paddle._launch.flag import Value
from paddle._launch.flags import (
    BY_NAME,
    FLAGS,
    check_ports,
    check_supported,
    defaults_of,
    flags_of,
    unknown,
)
from paddle._launch.report import Reporter, reporter

__all__ = [
    "RESTARTS",
    "SERVED",
    "SHARED_PORTS",
    "ClusterEnvironment",
    "InitFlags",
    "Reporter",
    "child_environment",
    "files",
    "meeting_words",
    "read",
    "read_first",
    "read_init",
    "reporter",
    "restarts",
    "snapshots",
    "trainer_of",
]

RESTARTS = "PADDLE_RESTARTS"  # how often a role was started before, alone or with its whole job
SHARED_PORTS = "PADDLE_SHARED_PORTS"  # of all servers of a job, where they are commands and not its program
SERVED = "PADDLE_SERVED_JOB"  # which job a parameter server serves, also one that takes another's place in it
_PREFIX = "PADDLE_INIT_"
_TOLD_PORTS = 3
_FILES = {
    "token_file": "PADDLE_TOKEN_FILE",
    "tls_ca": "PADDLE_TLS_CA",
    "tls_cert": "PADDLE_TLS_CERT",
    "tls_key": "PADDLE_TLS_KEY",
}
OF_SNAPSHOTS = {
    "snapshot_dir": "PADDLE_SNAPSHOT_DIR",
    "snapshot_period": "PADDLE_SNAPSHOT_PERIOD",
    "snapshot_interval": "PADDLE_SNAPSHOT_INTERVAL",
    "snapshot_keep": "PADDLE_SNAPSHOT_KEEP",
    "snapshot_memory": "PADDLE_SNAPSHOT_MEMORY",
}
_HOST = re.compile(r"[\w.-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%\w+)?")  # a name, IPv4 or IPv6
# A list of trainer addresses turns a fluid program to collective training; the others speak of another job,
# or change where a Python looks for what it imports.
_DROPPED = (
    f"{_PREFIX}*",
    "PADDLE_GLOO_*",
    "PADDLE_HETER_*",
    "PADDLE_PSERVER_ID",
    "PADDLE_RANKS_SECRET",
    RESTARTS,
    "PADDLE_RUNNING_ENV",
    SERVED,
    SHARED_PORTS,
    "PADDLE_TRAINER_ENDPOINTS",
    "PADDLE_TRAINER_IPS",
    "PADDLE_WITH_GLOO",
    "PYTHONHOME",
    "PYTHONSAFEPATH",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitFlags:
    """What ``paddle.init`` decided: the flags that a trainer acts upon, and ``values`` of all by name.

    ``given``: the names that arguments or the environment set. ``notices``: lines that the user should see.
    """

    use_gpu: bool
    trainer_count: int
    port: int
    ports_num: int
    ports_num_for_sparse: int
    num_gradient_servers: int
    trainer_id: int
    pservers: tuple[str, ...]
    connect_timeout: float
    reconnect_timeout: float
    journal_limit: int
    seed: int
    token_file: str
    wire: str
    wire_topk: float
    wire_answers: str
    tls_ca: str
    values: Mapping[str, Value]
    given: frozenset[str]
    notices: tuple[str, ...] = ()


def read_init(kwargs: Mapping[str, object], environ: Mapping[str, str]) -> InitFlags:
    """Settle the flags of a trainer: ``kwargs`` over ``PADDLE_INIT_*`` over the defaults.

    Raises ``FlagError`` for a flag or value that cannot be, ``NotInThisRelease`` for one that is not built,
    and ``ClusterError`` for a trainer that the job does not have.
    """
    trainer = {flag.name: flag for flag in flags_of("trainer")}
    given: dict[str, Value] = {}
    written: dict[str, str] = {}
    for where, name, value in [*_from_environment(environ), *_from_arguments(kwargs)]:
        if name not in trainer:
            raise unknown(where, name, trainer, "paddle.init")
        given[name], written[name] = trainer[name].parse(value, where), where
    notices = [check_supported(trainer[name], value, written[name]) for name, value in given.items()]
    forgone = {name for name in given if trainer[name].effect == "forgone"}
    values: dict[str, Any] = defaults_of("trainer") | {
        name: value for name, value in given.items() if name not in forgone
    }
    values |= files(values, environ)
    _check(values)
    own = {field.name for field in fields(InitFlags)} & trainer.keys()
    return InitFlags(
        **{name: values[name] for name in own},
        values=MappingProxyType(values),
        given=frozenset(given),
        notices=tuple(filter(None, notices)),
    )


def read_ways(environ: Mapping[str, str]) -> InitFlags:
    """How a trainer of fluid or fleet reaches its servers. ``PADDLE_INIT_*`` of a place do not count: such a
    program says it itself, and may have been started with some of v2's names."""
    return read_init({"pservers": "127.0.0.1", "trainer_id": 0, "num_gradient_servers": 1}, environ)


def read_first(environ: Mapping[str, str], dialects: Sequence[str]) -> ClusterEnvironment:
    """The place that the first of ``dialects`` says that says one; LOCAL where none does."""
    places = (read(environ, dialect) for dialect in dialects)
    return next((place for place in places if place.role != "LOCAL"), ClusterEnvironment())


def trainer_of(environ: Mapping[str, str]) -> tuple[int, int]:
    """Which trainer this process is, of how many: 0 of 1 where nobody says it."""
    found = read(environ)
    if found.role == "TRAINER":
        return found.trainer_id, found.trainers
    number, count = (environ.get(f"PADDLE_{name}", "").strip() for name in ("TRAINER_ID", "TRAINERS_NUM"))
    for name, text in (("PADDLE_TRAINER_ID", number), ("PADDLE_TRAINERS_NUM", count)):
        if text and not text.isdecimal():
            raise FlagError(f"{name}: {text!r} is not a whole number. Correct it, or unset it.")
    check_trainer_id(int(number or 0), int(count or 1), "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM")
    return int(number or 0), int(count or 1)


def files(values: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    """Where what a process shows or trusts is, of ``values``, empty where there is none: the flag over its
    variable."""
    return {
        name: values[name] or environ.get(variable, "") for name, variable in _FILES.items() if name in values
    }


def snapshots(environ: Mapping[str, str]) -> dict[str, Any]:
    """Where and when a server that a program runs keeps snapshots, as flags of ``paddle pserver`` say it;
    empty where it keeps none."""
    told = {name: environ.get(variable, "").strip() for name, variable in OF_SNAPSHOTS.items()}
    if not told["snapshot_dir"]:
        return {}
    said = {name: BY_NAME[name].parse(text, OF_SNAPSHOTS[name]) for name, text in told.items() if text}
    return {name: said.get(name, BY_NAME[name].default) for name in OF_SNAPSHOTS}


def restarts(environ: Mapping[str, str]) -> int:
    """How often this process's role was started again, as whoever did so says; 0 for the first of them."""
    text = environ.get(RESTARTS, "").strip() or "0"
    if not text.isdecimal():
        raise FlagError(f"{RESTARTS}: {text!r} is not how often a process was started again: 0, 1, 2...")
    return int(text)


def shared_ports(environ: Mapping[str, str], endpoints: Sequence[str]) -> tuple[int, int, int] | None:
    """The first port, and how many dense and sparse ones follow, of parameter servers that are commands of a
    launched job; None where those at ``endpoints`` are not, but the job's own program."""
    ports = {endpoint.rpartition(":")[2] for endpoint in endpoints}
    numbers = environ.get(SHARED_PORTS, "").split(",")
    if len(numbers) != _TOLD_PORTS or ports != {numbers[0]}:
        return None
    first, dense, sparse = map(int, numbers)
    return first, dense, sparse


def child_environment(
    cluster: ClusterEnvironment,
    *,
    trainer_count: int = 1,
    flags: Mapping[str, Value] = MappingProxyType({}),
    log_dir: str = "log",
) -> dict[str, str | None]:
    """Give what must change in the environment that a child inherits: a text to set, or None to unset.

    ``NAME*`` stands for all names that begin so, but for those that are set.
    ``flags``: trainer flags that the user gave, handed on as ``PADDLE_INIT_*``. ``log_dir``: where the child
    writes its .INFO files, seen from its working folder. ``trainer_count``: threads in which it computes.
    """
    rank = cluster.pserver_id if cluster.role == "PSERVER" else cluster.trainer_id
    words = VARIABLES.union(*(flag.env for flag in FLAGS))
    changes: dict[str, str | None] = dict.fromkeys([*_DROPPED, *sorted(words)])
    changes |= _blas.changes()
    changes |= {_PREFIX + name.upper(): BY_NAME[name].render(value) for name, value in flags.items()}
    changes |= {
        "PADDLE_INIT_USE_GPU": "False",
        "PADDLE_INIT_TRAINER_COUNT": str(trainer_count),
        **_words_for_init(cluster, trainer_count),
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(cluster.trainers),
        "GLOG_log_dir": log_dir,
        "GLOG_logtostderr": "0",
    }
    return changes | assignments(cluster)


def _words_for_init(cluster: ClusterEnvironment, trainer_count: int) -> dict[str, str]:
    """What v2's programs for the original's clusters look up and hand to ``paddle.init`` themselves, beside
    PADDLE_PSERVERS, PADDLE_PORT and PADDLE_TRAINER_ID."""
    return {
        "PADDLE_NUM_GRADIENT_SERVERS": str(cluster.trainers),
        "PADDLE_PORTS_NUM": str(cluster.ports_num),
        "PADDLE_PORTS_NUM_FOR_SPARSE": str(cluster.ports_num_for_sparse),
        "PADDLE_TRAINER_COUNT": str(trainer_count),
    }


def meeting_words(endpoint: str, with_gloo: str = "1") -> dict[str, str]:
    """What processes of fleet are told of where they meet. ``with_gloo``: "0" where they do not."""
    return {
        "PADDLE_WITH_GLOO": with_gloo,
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": endpoint,
    }


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    for variable in sorted(environ):
        if variable.startswith(_PREFIX) and environ[variable].strip():
            yield variable, variable.removeprefix(_PREFIX).lower(), environ[variable]


def _from_arguments(kwargs: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    for name, value in kwargs.items():
        yield f"paddle.init({name}=...)", name, value


def _check(values: Mapping[str, Any]) -> None:
    if not values["pservers"]:
        raise FlagError("pservers names no host. Give the parameter servers' addresses, separated by commas.")
    for host in values["pservers"]:
        if not _HOST.fullmatch(host):
            raise FlagError(
                f"pservers: {host!r} is not a host. Give names or addresses alone, separated by commas: all "
                "have the ports that port, ports_num and ports_num_for_sparse say."
            )
    if not values["wire_topk"]:
        raise FlagError("wire_topk: with a share of 0 no gradient would ever travel. Give more than 0.")
    check_ports(values["port"], values["ports_num"], values["ports_num_for_sparse"])
    check_trainer_id(
        values["trainer_id"], values["num_gradient_servers"], "trainer_id", "num_gradient_servers"
    )
