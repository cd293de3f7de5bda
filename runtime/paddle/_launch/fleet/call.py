"""A command line of the launcher: its own flags, the program, and what the program is handed.

It must never know which machine this is. Guarantee: what follows the program is the program's, whatever it
looks like, and a flag that this release does not have is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddle._launch.arguments import Arguments, parse_arguments, split_at_program
from paddle._launch.errors import UsageError
from paddle._launch.flags import defaults_of

COMMAND = "fleetrun"
DEFAULT_PORT = 6170  # of trainers in a list without ports, behind as many as there are servers
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was asked for. ``servers`` and ``workers``: ``host:port``, empty where free ports of this machine
    are wanted, as many as ``server_num`` and ``worker_num`` say. ``notices``: what of it has no effect."""

    script: str
    arguments: tuple[str, ...]
    server_num: int
    worker_num: int
    servers: tuple[str, ...]
    workers: tuple[str, ...]
    log_dir: str
    http_port: int
    with_gloo: str
    notices: tuple[str, ...] = ()


def read(argv: Sequence[str]) -> Call | None:
    """Read a command line; gives None where it asks for help."""
    own, program = split_at_program(argv, "fleetrun")
    given = parse_arguments(own, "fleetrun", command=COMMAND)
    if given.help:
        return None
    if not program:
        raise UsageError(
            f"which program? Its path follows the flags: {COMMAND} --server_num=1 --worker_num=2 train.py"
        )
    return _checked(given, program)


def program_of(argv: Sequence[str]) -> tuple[str, ...]:
    """The program of a command line, with its arguments."""
    return tuple(split_at_program(argv, "fleetrun")[1])


def _checked(given: Arguments, program: Sequence[str]) -> Call:
    values = {**defaults_of("fleetrun"), **given.values}
    lists: dict[str, tuple[str, ...]] = {}
    counts: dict[str, int] = {}
    for what, kind in (("server", "parameter servers"), ("worker", "trainers")):
        listed, number = values[f"{what}s"], values[f"{what}_num"]
        assert isinstance(listed, tuple) and isinstance(number, int)  # so the table says
        if not (listed or number):
            raise UsageError(
                f"how many {kind}? Give --{what}_num=N to have them on this machine, or "
                f"--{what}s=HOST:PORT,... to say where they are."
            )
        if listed and number not in (0, len(listed)):
            raise UsageError(
                f"--{what}_num is {number}, but --{what}s lists {len(listed)}: {','.join(listed)}. Leave "
                f"--{what}_num out, or correct one of the two."
            )
        lists[what], counts[what] = listed, number or len(listed)
    servers = tuple(_endpoint(entry, "servers") for entry in lists["server"])
    first = DEFAULT_PORT + counts["server"]
    workers = tuple(_endpoint(entry, "workers", first + place) for place, entry in enumerate(lists["worker"]))
    _check_different((*servers, *workers))
    return Call(
        script=program[0],
        arguments=tuple(program[1:]),
        server_num=counts["server"],
        worker_num=counts["worker"],
        servers=servers,
        workers=workers,
        log_dir=str(values["log_dir"]) or ".",
        http_port=int(str(values["http_port"])),
        with_gloo=str(values["with_gloo"]),
        notices=given.notices,
    )


def _endpoint(entry: str, flag: str, port: int | None = None) -> str:
    """Check one entry of a list; ``port``: where it names none."""
    host, colon, text = entry.rpartition(":")
    if not colon and port is not None:
        return f"{entry}:{port}"
    is_host = bool(host) and (":" not in host or host.startswith("["))
    if not (colon and is_host and text.isdecimal() and 1 <= int(text) <= _LAST_PORT):
        raise UsageError(
            f"--{flag}: {entry!r} is not host:port with a port from 1 to {_LAST_PORT}, such as 10.0.0.1:6170."
        )
    return f"{host}:{int(text)}"


def _check_different(endpoints: Sequence[str]) -> None:
    for place, endpoint in enumerate(endpoints):
        if endpoint in endpoints[:place]:
            raise UsageError(
                f"{endpoint} stands twice in --servers and --workers. Give each process a port of its own."
            )
