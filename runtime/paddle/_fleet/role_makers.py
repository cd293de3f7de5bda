"""Role makers: how a process comes to know its place, from its environment or from the program.

The methods have the names of 1.x, and with an underscore before them those of 2.x. The environment is read in
one place (``_launch.dialects``); it must never be changed here.

Guarantee: a place is found when it is first asked for, and stays. What cannot be is a ValueError, as
upstream's are, that names the variable or argument and what it should be.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from paddle._fleet.errors import BadRole, MistypedRole, NoSuchProcess, Uncounted, UnknownKeyword
from paddle._fleet.place import Place, Role
from paddle._fleet.spoken import Spoken
from paddle._launch.environ import ClusterEnvironment, read_first
from paddle._launch.errors import NotInThisRelease

_DIALECTS = ("fleet", "cloud")
_SERVERS = "PADDLE_PSERVERS_IP_PORT_LIST"
_ALONE_AT = "127.0.0.1:6170"  # as the original has it where nobody says another
_OF_CLOUD = ("is_collective", "init_gloo", "path")
_OF_PROGRAM = (
    *("is_collective", "init_gloo", "path", "current_id", "role", "worker_num", "worker_endpoints"),
    "server_endpoints",
)


class RoleMakerBase(Spoken):
    """What all role makers answer."""

    def __init__(self) -> None:
        self._place: Place | None = None
        self.meets_in: str | tuple[str, int] | None = None
        """A folder in which processes find each other, or an address, where the program says one."""

    def _make(self) -> Place:
        raise NotImplementedError(f"{type(self).__name__} says nothing of roles")

    @property
    def place(self) -> Place:
        """Its place."""
        if self._place is None:
            self._place = self._make()
        return self._place

    def generate_role(self) -> None:
        """Find out now what would be found out later."""
        _ = self.place

    def is_worker(self) -> bool:
        """Whether this is a trainer."""
        return self.place.role == Role.WORKER

    def is_server(self) -> bool:
        """Whether this is a parameter server."""
        return self.place.role == Role.SERVER

    def is_first_worker(self) -> bool:
        """Whether this is trainer 0."""
        return self.is_worker() and self.place.id == 0

    def worker_num(self) -> int:
        """How many trainers there are."""
        return self.place.workers

    def server_num(self) -> int:
        """How many parameter servers there are."""
        return len(self.place.servers)

    def worker_index(self) -> int:
        """Which trainer this is."""
        return self.place.id

    def server_index(self) -> int:
        """Which parameter server this is."""
        return self.place.id

    def role_id(self) -> int:
        """Its number among those of its role."""
        return self.place.id

    def node_num(self) -> int:
        """On how many machines the trainers are."""
        return self.place.nodes

    def get_trainer_endpoints(self) -> list[str]:
        """Those of the trainers."""
        return list(self.place.worker_endpoints)

    def get_pserver_endpoints(self) -> list[str]:
        """Those of the parameter servers."""
        return list(self.place.servers)

    def get_current_endpoint(self) -> str:
        """Its own."""
        return self.place.endpoint

    def to_string(self) -> str:
        """Say it in a line, the role by its number, as upstream does."""
        place = self.place
        return (
            f"role: {place.role}, current_id: {place.id}, "
            f"worker_endpoints: {list(place.worker_endpoints)}, server_endpoints: {list(place.servers)}"
        )

    def is_non_distributed(self) -> bool:
        """Whether one process does all."""
        return not self.place.is_distributed

    # As 2.x spells them.
    _generate_role = generate_role
    _is_worker = is_worker
    _is_server = is_server
    _is_first_worker = is_first_worker
    _worker_num = worker_num
    _server_num = server_num
    _worker_index = worker_index
    _server_index = server_index
    _role_id = role_id
    _node_num = node_num
    _get_trainer_endpoints = get_trainer_endpoints
    _get_pserver_endpoints = get_pserver_endpoints
    _get_current_endpoint = get_current_endpoint
    _to_string = to_string
    _is_non_distributed = is_non_distributed


class PaddleCloudRoleMaker(RoleMakerBase):
    """Reads the environment. Without a list of parameter servers there is no cluster: one process does all.

    ``is_collective``: training without parameter servers, which this release does in one process only.
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        super().__init__()
        check_names("PaddleCloudRoleMaker", kwargs, _OF_CLOUD)
        self._is_collective = is_collective

    def _make(self) -> Place:
        if self._is_collective:
            return _alone()
        found = read_first(os.environ, _DIALECTS)
        if found.role != "LOCAL":
            return placed(found)
        if os.environ.get(_SERVERS) == "" and os.environ.get("TRAINING_ROLE") == "PSERVER":
            raise BadRole(
                f"TRAINING_ROLE is PSERVER, but {_SERVERS} is empty. Name the servers, or unset it."
            )
        return Place(is_distributed=False)


class UserDefinedRoleMaker(RoleMakerBase):
    """The program says it: ``current_id``, ``role``, ``server_endpoints``, and ``worker_num`` or
    ``worker_endpoints``."""

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__()
        if is_collective:
            raise NotInThisRelease(
                "UserDefinedRoleMaker(is_collective=True) is not in this release: training is with parameter "
                "servers. Leave it out, and name server_endpoints."
            )
        check_names("UserDefinedRoleMaker", kwargs, _OF_PROGRAM)
        self._kwargs = kwargs
        self.meets_in = kwargs.get("path") if init_gloo else None

    def _make(self) -> Place:
        given = self._kwargs
        servers = _endpoints(given.get("server_endpoints"), "server_endpoints")
        if not servers:
            raise NoSuchProcess("UserDefinedRoleMaker needs server_endpoints=['host:port', ...]")
        listed = _endpoints(given.get("worker_endpoints") or [], "worker_endpoints")
        workers = _number(given.get("worker_num") or len(listed), "worker_num")
        if workers < 1:
            raise Uncounted("UserDefinedRoleMaker needs worker_num=N, or worker_endpoints=['host:port', ...]")
        if listed and len(listed) != workers:
            raise BadRole(f"worker_num is {workers}, but worker_endpoints lists {len(listed)}")
        role = given.get("role", Role.WORKER)
        if role not in (Role.WORKER, Role.SERVER):
            raise MistypedRole(f"role is Role.WORKER or Role.SERVER, and not {role!r}")
        own = _number(given.get("current_id", 0), "current_id")
        return Place(role=role, id=own, workers=workers, servers=servers, worker_endpoints=listed)


class UserDefinedCollectiveRoleMaker(RoleMakerBase):
    """The program says that there are no parameter servers, and where its one worker is."""

    def __init__(self, current_id: int = 0, worker_endpoints: Sequence[str] | None = None) -> None:
        super().__init__()
        self._given = _number(current_id, "current_id"), _endpoints(worker_endpoints, "worker_endpoints")

    def _make(self) -> Place:
        own, listed = self._given
        if len(listed) > 1:
            raise NotInThisRelease(
                f"collective training of {len(listed)} trainers (worker_endpoints) is not in this release: "
                "train with parameter servers, UserDefinedRoleMaker(server_endpoints=[...])."
            )
        if not listed or own:
            raise BadRole(
                "UserDefinedCollectiveRoleMaker needs worker_endpoints=['host:port'], and current_id=0, "
                f"and not {list(listed)} and {own}"
            )
        return _alone_at(listed[0])


def check_names(who: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise for a keyword that there is not: who misspells current_id would be worker 0."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = f"; did you mean {near[0]}?" if near else "."
            raise UnknownKeyword(f"{who} has no argument {name!r}{meant} It takes {', '.join(known)}.")


def placed(found: ClusterEnvironment) -> Place:
    is_server = found.role == "PSERVER"
    return Place(
        role=Role.SERVER if is_server else Role.WORKER,
        id=found.pserver_id if is_server else found.trainer_id,
        workers=found.trainers,
        servers=found.pservers,
        worker_endpoints=_of_all(found),
    )


def _of_all(found: ClusterEnvironment) -> tuple[str, ...]:
    listed = found.trainer_endpoints
    if listed and len(listed) != found.trainers:
        raise BadRole(
            f"PADDLE_TRAINER_ENDPOINTS lists {len(listed)} trainers ({', '.join(listed)}), but "
            f"PADDLE_TRAINERS_NUM is {found.trainers}. Correct one of them, or unset the list."
        )
    return listed


def _alone() -> Place:
    others = os.environ.get("PADDLE_TRAINERS_NUM", "").strip() or "1"
    if others != "1":
        raise NotInThisRelease(
            f"collective training of {others} trainers (PADDLE_TRAINERS_NUM) is not in this release: train "
            "with parameter servers, fleet.init(is_collective=False)."
        )
    return _alone_at(os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").strip() or _ALONE_AT)


def _alone_at(endpoint: str) -> Place:
    """Programs count workers by their endpoints, so one that is alone has one."""
    return Place(is_distributed=False, worker_endpoints=(endpoint,))


def _endpoints(given: object, name: str) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [each for each in given.split(",") if each]
    if not (isinstance(given, Sequence) and all(isinstance(each, str) for each in given)):
        raise MistypedRole(f"{name} is a list of 'host:port', and not {given!r}")
    for place, endpoint in enumerate(given):
        if endpoint in given[:place]:
            raise BadRole(f"{name} lists {endpoint} twice. Give each process a port of its own.")
    return tuple(given)


def _number(given: object, name: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise MistypedRole(f"{name} is a whole number, and not {given!r}")
    return given
