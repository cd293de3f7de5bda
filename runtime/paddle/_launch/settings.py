"""What a launch is told: by conf.py, the environment and the command line. Each value knows where it is from.

It must never know a process or a network, and it never runs conf.py: that file is data, ``NAME = value`` with
plain values, and is read as such.

Guarantee: what ``settle`` gives is complete and of the right types, every node in ``HOSTS`` has one of the
known forms, and a name or value that is not understood is refused with the place where it stands.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from paddle._launch import short_file
from paddle._launch.errors import SettingsError
from paddle._launch.flag import Flag, Value
from paddle._launch.flags import BY_CONF_NAME, BY_NAME, check_ports, check_supported, flags_of
from paddle._launch.machines.places import Places, places

RUNTIME = Path(__file__).resolve().parents[2]
ROOT = (
    RUNTIME.parent
)  # of this checkout: there are paddle.py and the conf.py that is meant where none is named
# Flags that say something of pods, and nothing of other nodes.
POD_FLAGS = (
    *(
        "image",
        "pserver_num",
        "trainer_num",
        "namespace",
        "context",
        "image_pull_policy",
        "image_pull_secret",
    ),
    *("pserver_cpu", "pserver_memory", "trainer_cpu", "trainer_memory", "storage", "storage_class"),
    *("collect_timeout", "kubernetes_version"),
)
_POD = "pod"  # the user of nodes that nobody logs in to
_POD_PATIENCE_S = 600.0  # an image is fetched, and a machine perhaps made, before a parameter server serves
_SSH = re.compile(
    r"(?P<user>[A-Za-z_][\w.-]*)@(?P<host>[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(:(?P<port>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Host:
    """A node as HOSTS names it: ``local``, or a machine that is reached over SSH; or a pod."""

    name: str
    user: str = ""
    ssh_port: int = 0  # none is said: that of ~/.ssh/config, or 22

    @property
    def is_local(self) -> bool:
        """Whether the node is embedded in the launching machine."""
        return not self.user

    @property
    def is_pod(self) -> bool:
        """Whether it is one of Kubernetes."""
        return self.user == _POD


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags that the launcher takes, settled. ``hosts``: nodes in order; ``places``: what they have.
    ``folder``: that of conf.py."""

    values: Mapping[str, Value]
    origins: Mapping[str, str]
    hosts: tuple[Host, ...]
    places: Places
    folder: Path
    notices: tuple[str, ...]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def written(self, name: str) -> str:
        """How the user wrote a flag: as ``--port``, ``PADDLE_PORT in conf.py`` or in a variable's name."""
        return _written(next(flag for flag in flags_of("launcher") if flag.name == name), self.origins[name])


def read_conf(path: Path) -> dict[str, object]:
    """Read conf.py without running it: name -> value."""
    try:
        tree = ast.parse(short_file.read(path), str(path))  # in the encoding that it names, as Python would
    except OSError as error:
        raise SettingsError(
            f"cannot read the settings file {path}: {error.strerror}. Give another one with --conf=FILE."
        ) from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or "it is nested too deeply"
        raise SettingsError(f"{path} is not valid Python: {reason}.") from error
    return dict(filter(None, (_assignment(statement, path) for statement in tree.body)))


def settle(
    conf_path: Path,
    environ: Mapping[str, str],
    given: Mapping[str, Value],
    read: Mapping[str, object] | None = None,
) -> Settings:
    """Settle every flag of the launcher: ``given`` on the command line over ``environ`` over conf.py.
    ``read``: what was read of that, which may be a pipe that can be read once."""
    conf = read_conf(conf_path) if read is None else read
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for flag in flags_of("launcher"):
        values[flag.name], origins[flag.name] = _value(flag, conf, conf_path, environ, given)
    notices = [
        check_supported(flag, values[flag.name], _written(flag, origins[flag.name]))
        for flag in flags_of("launcher")
    ]
    return settled(values, origins, conf_path.parent, tuple(filter(None, notices)))


def settled(
    values: dict[str, Value], origins: Mapping[str, str], folder: Path, notices: tuple[str, ...] = ()
) -> Settings:
    """Settings of ``values`` of all flags of the launcher; nodes are those of HOSTS, or pods."""
    check_ports(*(int(str(values[name])) for name in ("port", "ports_num", "ports_num_for_sparse")))
    if values["platform"] != "kubernetes":
        hosts = read_hosts(values["hosts"], origins["hosts"])
        return Settings(values, origins, hosts, _places(values, origins), folder, notices)
    if origins["connect_timeout"] == "default":
        values = values | {"connect_timeout": _POD_PATIENCE_S}
    pservers, trainers = int(str(values["pserver_num"])), int(str(values["trainer_num"]))
    kinds = ["pserver"] * pservers + ["trainer"] * trainers
    found = Places(tuple(range(pservers)), tuple(range(pservers, pservers + trainers)))
    return Settings(values, origins, tuple(Host(kind, _POD) for kind in kinds), found, folder, notices)


def as_pods(settings: Settings, addresses: Sequence[str]) -> Settings:
    """The same settings, with pods at ``addresses``."""
    return replace(settings, hosts=tuple(Host(address, _POD) for address in addresses))


def _places(values: Mapping[str, Any], origins: Mapping[str, str]) -> Places:
    given: list[tuple[Any, str]] = []
    for flag in (BY_NAME["pserver_hosts"], BY_NAME["trainer_hosts"]):
        is_given = origins[flag.name] != "default"
        written = _written(flag, origins[flag.name]) if is_given else str(flag.conf)
        given.append((values[flag.name] if is_given else None, written))
    (pservers, of_pservers), (trainers, of_trainers) = given
    return places(values["hosts"], pservers, trainers, (of_pservers, of_trainers))


def read_hosts(names: Value, origin: str) -> tuple[Host, ...]:
    """Read HOSTS; all nodes are of one kind."""
    hosts = tuple(_host(name, origin) for name in names) if isinstance(names, tuple) else ()
    if not hosts:
        raise SettingsError(
            f"HOSTS ({origin}) names no node. Give at least one: HOSTS = ['local'] trains on this machine."
        )
    if len({host.is_local for host in hosts}) > 1:
        raise SettingsError(
            f"HOSTS ({origin}) mixes 'local' with nodes that are reached over SSH, which cannot find each "
            "other: a local node listens on a loopback address only. Name this machine as user@host too, or "
            "use local nodes alone."
        )
    _check_once(hosts, origin)
    return hosts


def _check_once(hosts: Sequence[Host], origin: str) -> None:
    machines = [(host.name, host.ssh_port or 22) for host in hosts]
    for number, host in enumerate(hosts):
        first = machines.index(machines[number])
        if first != number and not host.is_local:
            raise SettingsError(
                f"HOSTS ({origin}) names {host.name} twice: nodes {first} and {number}. Name a machine once: "
                "its pserver may have several processes (PADDLE_PORTS_NUM in conf.py), its trainer several "
                "threads (--trainer_count)."
            )


def _written(flag: Flag, origin: str) -> str:
    given = (f"--{flag.name}", "default", *flag.env)
    return origin if origin in given else f"{flag.conf} in {origin}"


def _host(name: str, origin: str) -> Host:
    if name == "local":
        return Host(name)
    found = _SSH.fullmatch(name)
    port = int(found["port"] or 0) if found else 0
    if not found or (found["port"] and not 1 <= port <= 65535):
        raise SettingsError(
            f"HOSTS ({origin}): {name!r} is not a node. Write 'local', 'user@host' or 'user@host:sshport', "
            "with a port from 1 to 65535."
        )
    return Host(found["host"], found["user"], port)


def _assignment(statement: ast.stmt, path: Path) -> tuple[str, object] | None:
    match statement:
        case ast.Expr(ast.Constant(str())):
            return None  # text between the settings
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            return _named(name, value, path)
    raise SettingsError(
        f"{path}, line {statement.lineno}: this is not NAME = value. Settings are data; nothing was run."
    )


def _named(name: str, value: ast.expr, path: Path) -> tuple[str, object] | None:
    if name.startswith("_"):
        return None
    where = f"{path}, line {value.lineno}"
    if name not in BY_CONF_NAME:
        near = get_close_matches(name.upper(), BY_CONF_NAME, n=1)
        advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(BY_CONF_NAME)}."
        raise SettingsError(f"{where}: there is no setting {name}; {advice}")
    takes_list = BY_CONF_NAME[name].kind == "names"
    try:
        written = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise SettingsError(
            f"{where}: the value of {name} must be written out (a text, a number or a list of texts): "
            "settings are data and are not run."
        ) from error
    for each in written if takes_list and isinstance(written, list | tuple) else (written,):
        if not isinstance(each, str | int | float):
            kinds = "a text, or a list of texts" if takes_list else "a text or a number"
            raise SettingsError(f"{where}: {name} is {kinds}, not {written!r:.80}.")
        _check_text(str(each), f"{where}: {name}")
    return name, written


def _check_text(text: str, where: str) -> None:
    """Refuse what no path, argument or variable of a process can hold."""
    try:
        is_possible = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise SettingsError(
            f"{where} is {text!r}, but no process can be given such a text: a character in it has the code "
            "0, or is half of one. Write it without."
        )


def _value(
    flag: Flag,
    conf: Mapping[str, object],
    conf_path: Path,
    environ: Mapping[str, str],
    given: Mapping[str, Value],
) -> tuple[Value, str]:
    if flag.name in given:
        return given[flag.name], f"--{flag.name}"
    for variable in flag.env:
        if text := environ.get(variable, "").strip():
            return flag.parse(text, f"environment variable {variable}"), variable
    if flag.conf and flag.conf in conf:
        return flag.parse(conf[flag.conf], f"{flag.conf} in {conf_path}"), conf_path.name
    return flag.default, "default"
