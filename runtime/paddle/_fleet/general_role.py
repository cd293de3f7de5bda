"""GeneralRoleMaker of fleet 1.x: the environment says who a process is, its arguments where all meet.

It must never know how processes meet (meeting.py). Guarantee: a place is that of the variables which 1.8
reads; a meeting in HDFS is refused by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._fleet.errors import BadRole
from paddle._fleet.place import Place, Role
from paddle._fleet.role_makers import RoleMakerBase, check_names, placed
from paddle._launch.environ import read

_NAMES = ("hdfs_name", "hdfs_ugi", "path", "http_ip_port", "init_timeout_seconds", "run_timeout_seconds")
_SERVERS, _WORKERS = "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS"


class GeneralRoleMaker(RoleMakerBase):
    """Trainers are those of PADDLE_TRAINER_ENDPOINTS, and a server may be told its number by
    PADDLE_PSERVER_ID instead of its address.

    ``http_ip_port``: where processes meet, host:port of trainer 0's machine; ``path``: else a folder that all
    see. With neither each is alone. How long a process waits for the others is not told by a number of
    seconds here: those that live are waited for.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        check_names("GeneralRoleMaker", kwargs, _NAMES)
        self.meets_in = _where(kwargs)

    def _make(self) -> Place:
        environ = os.environ
        workers = [each for each in environ.get(_WORKERS, "").split(",") if each]
        for name, what in ((_SERVERS, "all parameter servers"), (_WORKERS, "all trainers")):
            if not environ.get(name):
                raise BadRole(f"GeneralRoleMaker needs {name}, the addresses host:port of {what}")
        told = {**environ, "PADDLE_TRAINERS_NUM": str(len(workers))}
        return placed(read({**told, **_own_address(environ)}, "fleet"))

    def get_local_endpoint(self) -> str:
        """This process's own."""
        return self.get_current_endpoint()

    def _get_rank(self) -> int:
        """Its number among all processes, trainers first."""
        return self.place.id + (self.place.workers if self.place.role == Role.SERVER else 0)

    def _get_size(self) -> int:
        """How many processes there are."""
        return self.place.workers + len(self.place.servers)

    def _barrier_server(self) -> None:
        """Until all servers have come; at once for a trainer."""
        if self.is_server():
            self._barrier("server")


def _where(given: Mapping[str, Any]) -> str | tuple[str, int] | None:
    """A folder, an address, or None."""
    if given.get("http_ip_port"):
        host, _, port = str(given["http_ip_port"]).rpartition(":")
        if not host or not port.isdecimal():
            raise BadRole(f"GeneralRoleMaker: http_ip_port is host:port, and not {given['http_ip_port']!r}")
        return host, int(port)
    if given.get("hdfs_name"):
        raise NotInThisRelease(
            "GeneralRoleMaker(hdfs_name=...), a meeting in HDFS, is not in this release: give http_ip_port, "
            "host:port of trainer 0's machine, or path alone, a folder that all processes see"
        )
    path = str(given.get("path") or "")
    return path or None


def _own_address(environ: Mapping[str, str]) -> dict[str, str]:
    """What a server's number says of its address."""
    number = environ.get("PADDLE_PSERVER_ID", "").strip()
    if environ.get("TRAINING_ROLE") != "PSERVER" or not number:
        return {}
    servers = environ[_SERVERS].split(",")
    if not number.isdecimal() or int(number) >= len(servers):
        raise BadRole(
            f"PADDLE_PSERVER_ID is {number}, and {_SERVERS} lists {len(servers)} servers, numbered from 0"
        )
    host, _, port = servers[int(number)].rpartition(":")
    return {"POD_IP": host, "PADDLE_PORT": port}
