"""A command line of the launcher: its own flags, the program, and what the program is handed.

It must never know which machine this is. Guarantee: what follows the program is the program's, whatever it
looks like, and a flag that this release does not have is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from paddle._launch.arguments import parse_arguments, split_at_program
from paddle._launch.errors import NotInThisRelease, UsageError
from paddle._launch.flags import defaults_of, flags_of

COMMAND = "fleetrun"
DEFAULT_PORT = 6170  # of trainers in a list without ports, behind as many as there are servers
_KINDS = {"server": "parameter servers", "worker": "trainers"}
_LAST_PORT = 65535
_ETCD = "etcd://"
_WITH_SERVERS = ("server_num", "servers", "worker_num", "workers", "master")
_DEVICES = ("gpus", "xpus", "devices")


@dataclass(frozen=True, slots=True, kw_only=True)
class Appointment:
    """Of a job whose machines meet. ``master``: where, ``host:port``; empty where this machine is to say it.
    ``size``: how many they are; ``rank``: which of them this is, -1 where nobody says."""

    master: str
    size: int
    rank: int
    job: str
    by_address: bool
    patience_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was asked for. ``servers`` and ``workers``: ``host:port``, empty where free ports of this machine
    are wanted, as many as ``server_num`` and ``worker_num`` say. ``host``: this machine's address,
    where anybody says it. ``is_alone``: one process trains, without servers. ``notices``: what of it has no
    effect."""

    script: str
    arguments: tuple[str, ...]
    server_num: int
    worker_num: int
    servers: tuple[str, ...]
    workers: tuple[str, ...]
    host: str
    log_dir: str
    http_port: int
    with_gloo: str
    appointment: Appointment | None = None
    is_alone: bool = False
    notices: tuple[str, ...] = ()


def read(argv: Sequence[str], environ: Mapping[str, str] = MappingProxyType({})) -> Call | None:
    """Read a command line, and of ``environ`` what it leaves open; gives None where it asks for help."""
    own, program = split_at_program(argv, "fleetrun")
    given = parse_arguments(own, "fleetrun", command=COMMAND)
    if given.help:
        return None
    if not program:
        raise UsageError(
            f"no program is given. Put it after the flags: {COMMAND} --server_num=1 --worker_num=2 train.py"
        )
    return _checked({**_said(environ), **given.values}, program, given.notices)


def program_of(argv: Sequence[str]) -> tuple[str, ...]:
    """The program of a command line, with its arguments."""
    return tuple(split_at_program(argv, "fleetrun")[1])


def _said(environ: Mapping[str, str]) -> dict[str, Any]:
    """What variables say of flags. The first of a flag's counts."""
    return {
        flag.name: flag.parse(environ[word], word)
        for flag in flags_of("fleetrun")
        for word in reversed(flag.env)
        if environ.get(word, "").strip()
    }


def _checked(given: Mapping[str, Any], program: Sequence[str], notices: tuple[str, ...]) -> Call:
    values: dict[str, Any] = {**defaults_of("fleetrun"), **given}
    is_alone = _is_alone(values)
    if is_alone:
        _check_alone(values)
        values["worker_num"] = 1
    meets = values["nnodes"] > 1 and not (values["servers"] and values["workers"])
    if meets:
        _check_unlisted(values)
    if meets or values["run_mode"] == "ps":
        values |= {f"{what}_num": 1 for what in _KINDS if not {f"{what}_num", f"{what}s"} & given.keys()}
    lists, counts = _processes(values, meets or is_alone)
    servers = tuple(_endpoint(entry, "--servers") for entry in lists["server"])
    first = DEFAULT_PORT + counts["server"]
    workers = tuple(
        _endpoint(entry, "--workers", first + place) for place, entry in enumerate(lists["worker"])
    )
    _check_different((*servers, *workers))
    return Call(
        script=program[0],
        arguments=tuple(program[1:]),
        server_num=counts["server"],
        worker_num=counts["worker"],
        servers=servers,
        workers=workers,
        host=values["host"],
        log_dir=values["log_dir"] or ".",
        http_port=values["http_port"],
        with_gloo=values["with_gloo"],
        appointment=_appointment(values) if meets else None,
        is_alone=is_alone,
        notices=notices,
    )


def _is_alone(values: Mapping[str, Any]) -> bool:
    """Whether this is a call of collective training: it says so, or speaks of its words alone."""
    with_servers = [name for name in _WITH_SERVERS if values[name]]
    says = {
        "run_mode=collective": values["run_mode"] == "collective",
        **{name: bool(values[name]) for name in ("nproc_per_node", "ips")},
    }
    if word := next((word for word, is_said in says.items() if is_said), None):
        if with_servers or values["run_mode"] == "ps":
            raise UsageError(
                f"--{word} is of training without parameter servers, and "
                f"--{[*with_servers, 'run_mode=ps'][0]} of training with them. Leave one of them out."
            )
        return True
    names_devices = any(values[name] for name in _DEVICES)
    return names_devices and not (with_servers or values["nnodes"] > 1 or values["run_mode"] == "ps")


def _check_alone(values: Mapping[str, Any]) -> None:
    devices = max(len(values[name]) for name in _DEVICES)
    each, machines = values["nproc_per_node"] or devices or 1, max(values["nnodes"], len(values["ips"]))
    if each * machines > 1:
        raise NotInThisRelease(
            f"collective training of {each * machines} processes is not in this release. One process trains "
            f"as it does alone: {COMMAND} --nproc_per_node=1 train.py. Several train with parameter servers: "
            f"{COMMAND} --server_num=1 --worker_num={each * machines} train.py"
        )


def _processes(values: Mapping[str, Any], meets: bool) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """The servers and workers that are listed, and how many there are."""
    lists: dict[str, tuple[str, ...]] = {}
    counts: dict[str, int] = {}
    for what, kind in _KINDS.items():
        listed, number = values[f"{what}s"], values[f"{what}_num"]
        if not (listed or number or meets):
            raise UsageError(
                f"the number of {kind} is missing. Give --{what}_num=N to start them on this machine, or "
                f"--{what}s=HOST:PORT,... to say where they are; or --nproc_per_node=1 to train in one "
                "process, without servers."
            )
        if listed and number not in (0, len(listed)):
            raise UsageError(
                f"--{what}_num is {number}, but --{what}s lists {len(listed)}: {','.join(listed)}. Leave "
                f"--{what}_num out, or correct one of the two."
            )
        lists[what], counts[what] = listed, number or len(listed)
    return lists, counts


def _check_unlisted(values: Mapping[str, Any]) -> None:
    for name in ("servers", "workers"):
        if values[name]:
            raise UsageError(
                f"--{name} lists processes of {values['nnodes']} machines (--nnodes), and nothing lists the "
                "others: give both --servers and --workers, or neither, and how many are on this machine "
                "by --server_num and --worker_num."
            )


def _appointment(values: Mapping[str, Any]) -> Appointment:
    if not (values["server_num"] or values["worker_num"]):
        raise UsageError("--server_num=0 and --worker_num=0: there is nothing to start on this machine.")
    size, rank, master = values["nnodes"], values["rank"], values["master"]
    if rank >= size:
        raise UsageError(f"--rank is {rank}, but --nnodes says that there are {size}, numbered from 0.")
    if master.startswith(_ETCD):
        raise NotInThisRelease(
            f"--master={master}: machines that meet in etcd are not in this release. Give host:port of one "
            "of the machines, with a port that is free there."
        )
    return Appointment(
        master=master and _endpoint(master, "--master (PADDLE_MASTER)"),
        size=size,
        rank=rank,
        job=values["job_id"],
        by_address=values["sort_ip"],
        patience_s=values["master_timeout"],
    )


def _endpoint(entry: str, flag: str, port: int | None = None) -> str:
    """Check one entry of a list; ``port``: where it names none."""
    host, colon, text = entry.rpartition(":")
    if not colon and port is not None:
        return f"{entry}:{port}"
    is_host = bool(host) and (":" not in host or host.startswith("["))
    if not (colon and is_host and text.isdecimal() and 1 <= int(text) <= _LAST_PORT):
        raise UsageError(
            f"{flag}: {entry!r} is not host:port with a port from 1 to {_LAST_PORT}, such as 10.0.0.1:6170."
        )
    return f"{host}:{int(text)}"


def _check_different(endpoints: Sequence[str]) -> None:
    for place, endpoint in enumerate(endpoints):
        if endpoint in endpoints[:place]:
            raise UsageError(
                f"{endpoint} stands twice in --servers and --workers. Give each process a port of its own."
            )
