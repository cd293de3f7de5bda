"""How the generations of PaddlePaddle tell a process its place in a cluster, and the one form of ours.

Each generation named the same few facts differently; a row of ``DIALECTS`` is one vocabulary. It must never
know where an environment comes from or goes to: environments are mappings given as arguments.

Guarantee: what ``assignments`` writes, ``read`` gives back from each dialect alone, as far as it can say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from paddle._launch.errors import ClusterError, NotInThisRelease, Unset
from paddle._launch.flags import BY_NAME

_HIGHEST_PORT = 65535

Role = Literal["LOCAL", "TRAINER", "PSERVER"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEnvironment:
    """One process's place in a cluster.

    ``pservers``: endpoints ``host:port``, the port being the server's first. ``host`` and ``port``: of a
    parameter server its own; of a trainer its own address and the servers' common port (0: they have none).
    ``trainer_endpoints`` may be empty.
    """

    role: Role = "LOCAL"
    trainers: int = 1
    trainer_id: int = 0
    pservers: tuple[str, ...] = ()
    host: str = ""
    port: int = 0
    ports_num: int = 1
    ports_num_for_sparse: int = 0
    trainer_endpoints: tuple[str, ...] = ()

    @property
    def pserver_hosts(self) -> tuple[str, ...]:
        """Hosts of the parameter servers, in order."""
        return tuple(endpoint.rpartition(":")[0] for endpoint in self.pservers)

    @property
    def pserver_id(self) -> int:
        """Place of this parameter server in the list."""
        return self.pservers.index(f"{self.host}:{self.port}")

    @property
    def common_port(self) -> int:
        """The port that all parameter servers share; 0 where they differ."""
        ports = {int(endpoint.rpartition(":")[2]) for endpoint in self.pservers}
        return ports.pop() if len(ports) == 1 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The words of one generation; it speaks to a process where all of ``spoken`` are set.

    ``switch``: a variable, and the value of it that means local training. ``defaults``: of unset variables.
    ``endpoints``: servers are listed as ``host:port``, not as hosts that share one port. ``also``: what some
    systems that speak it call a variable, where that is unset.
    """

    spoken: tuple[str, ...]
    role: str | None
    pservers: str
    port: str
    host: tuple[str, ...]
    trainers: str
    trainer_id: str
    defaults: Mapping[str, str] = field(default_factory=dict)
    switch: tuple[str, bool] | None = None
    endpoints: bool = False
    also: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable of this vocabulary."""
        own = (self.pservers, self.port, *self.host, self.trainers, self.trainer_id)
        return (self.role, *own) if self.role else own


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "fleet": Dialect(
            spoken=("PADDLE_PSERVERS_IP_PORT_LIST",),
            role="TRAINING_ROLE",
            pservers="PADDLE_PSERVERS_IP_PORT_LIST",
            port="PADDLE_PORT",
            host=("POD_IP",),
            trainers="PADDLE_TRAINERS_NUM",
            trainer_id="PADDLE_TRAINER_ID",
            endpoints=True,
        ),
        "cloud": Dialect(
            spoken=("PADDLE_PSERVERS", "TRAINING_ROLE"),
            role="TRAINING_ROLE",
            pservers="PADDLE_PSERVERS",
            port="PADDLE_PORT",
            host=("POD_IP",),
            trainers="PADDLE_TRAINERS_NUM",
            trainer_id="PADDLE_TRAINER_ID",
            defaults={"PADDLE_PORT": "6174", "PADDLE_TRAINER_ID": "0"},
            switch=("PADDLE_IS_LOCAL", True),
        ),
        "fluid": Dialect(
            spoken=("PADDLE_TRAINING_ROLE",),
            role="PADDLE_TRAINING_ROLE",
            pservers="PADDLE_PSERVER_IPS",
            port="PADDLE_PSERVER_PORT",
            host=("PADDLE_CURRENT_IP", "POD_IP"),
            trainers="PADDLE_TRAINERS",
            trainer_id="PADDLE_TRAINER_ID",
            defaults={"PADDLE_PSERVER_PORT": "6174", "PADDLE_TRAINER_ID": "0"},
            also={  # EDL's and the CTR example's, whose role is told like this one's
                "PADDLE_PSERVER_IPS": "PADDLE_PSERVERS",
                "PADDLE_PSERVER_PORT": "PADDLE_PORT",
                "PADDLE_TRAINERS": "PADDLE_TRAINERS_NUM",
            },
        ),
        "fluid-0.12": Dialect(
            spoken=("TRAINING_ROLE", "PADDLE_INIT_PSERVERS"),
            role="TRAINING_ROLE",
            pservers="PADDLE_INIT_PSERVERS",
            port="PADDLE_INIT_PORT",
            host=("POD_IP",),
            trainers="TRAINERS",
            trainer_id="PADDLE_INIT_TRAINER_ID",
            defaults={"PADDLE_INIT_PORT": "6174", "PADDLE_INIT_TRAINER_ID": "0"},
        ),
        "v2": Dialect(
            spoken=("PADDLE_INIT_PSERVERS",),
            role=None,
            pservers="PADDLE_INIT_PSERVERS",
            port="PADDLE_INIT_PORT",
            host=("POD_IP",),
            trainers="PADDLE_INIT_NUM_GRADIENT_SERVERS",
            trainer_id="PADDLE_INIT_TRAINER_ID",
            defaults={
                "PADDLE_INIT_PORT": "7164",
                "PADDLE_INIT_TRAINER_ID": "0",
                "PADDLE_INIT_NUM_GRADIENT_SERVERS": "1",
            },
            switch=("PADDLE_CLUSTER_TRAIN", False),
        ),
    }
)
VARIABLES = frozenset(word for words in DIALECTS.values() for word in words.variables)


def read(environ: Mapping[str, str], dialect: str | None = None) -> ClusterEnvironment:
    """Read this process's place from ``dialect``, or from the newest generation that speaks to it.

    Where none does, the place is LOCAL. Raises ``ClusterError`` or ``FlagError`` where that cannot be.
    """
    for name in [dialect] if dialect else DIALECTS:
        words = DIALECTS[name]
        if all(environ.get(variable) for variable in words.spoken) and not _is_off(words, environ):
            return _Reader(words, environ).cluster()
    return ClusterEnvironment()


def assignments(cluster: ClusterEnvironment) -> dict[str, str]:
    """Write ``cluster`` in every dialect that can say it; a list of hosts cannot say ports that differ."""
    written: dict[str, str] = {}
    for words in DIALECTS.values():
        if words.endpoints or cluster.common_port:
            written |= _spoken(words, cluster)
    if cluster.role == "PSERVER":
        written["PADDLE_PSERVER_ID"] = str(cluster.pserver_id)
    if cluster.trainer_endpoints:
        written["PADDLE_TRAINER_ENDPOINTS"] = ",".join(cluster.trainer_endpoints)
    return written | {
        "PADDLE_PSERVERS_NUM": str(len(cluster.pservers)),
        "PADDLE_INIT_PORTS_NUM": str(cluster.ports_num),
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": str(cluster.ports_num_for_sparse),
        "PADDLE_CLUSTER_TRAIN": "True",
        "PADDLE_IS_LOCAL": "0",
    }


def check_trainer_id(trainer_id: int, trainers: int, id_name: str, count_name: str) -> None:
    """Refuse a trainer that a job of ``trainers`` does not have: the others would wait for the real one."""
    if trainer_id >= trainers:
        raise ClusterError(
            f"{id_name} is {trainer_id}, but {count_name} says that the job has {trainers} "
            f"trainer{'s' * (trainers != 1)}, numbered 0 to {trainers - 1}. Give each trainer its own number "
            "from that range, and every trainer and parameter server the same number of trainers."
        )


def _spoken(words: Dialect, cluster: ClusterEnvironment) -> dict[str, str]:
    said = {
        words.pservers: ",".join(cluster.pservers if words.endpoints else cluster.pserver_hosts),
        words.trainers: str(cluster.trainers),
    }
    said |= dict.fromkeys(words.host, cluster.host)
    if words.role:
        said[words.role] = cluster.role
    if cluster.port:
        said[words.port] = str(cluster.port)
    if cluster.role == "TRAINER":
        said[words.trainer_id] = str(cluster.trainer_id)
    return said


def _is_off(words: Dialect, environ: Mapping[str, str]) -> bool:
    if words.switch is None:
        return False
    variable, means_local = words.switch
    text = environ.get(variable)
    return bool(text) and BY_NAME["local"].parse(text, variable) is means_local


class _Reader:
    """Reads one dialect's words; each method is one fact."""

    def __init__(self, words: Dialect, environ: Mapping[str, str]) -> None:
        def told(name: str) -> str:
            other = words.also.get(name, "")
            return other if environ.get(other) and not environ.get(name) else name

        self._words = replace(
            words, pservers=told(words.pservers), port=told(words.port), trainers=told(words.trainers)
        )
        self._environ = environ

    def cluster(self) -> ClusterEnvironment:
        words, role = self._words, self._role()
        trainers = self._number(words.trainers, "num_gradient_servers")
        trainer_id = self._number(words.trainer_id, "trainer_id") if role == "TRAINER" else 0
        check_trainer_id(trainer_id, trainers, words.trainer_id, words.trainers)
        place = ClusterEnvironment(
            role=role,
            trainers=trainers,
            trainer_id=trainer_id,
            pservers=self._pservers(),
            host=next(filter(None, map(self._environ.get, words.host)), ""),
            ports_num=self._v2_number("ports_num", 1),
            ports_num_for_sparse=self._v2_number("ports_num_for_sparse", 0),
            trainer_endpoints=tuple(
                filter(None, self._environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(","))
            ),
        )
        return self._server(place) if role == "PSERVER" else replace(place, port=place.common_port)

    def _server(self, place: ClusterEnvironment) -> ClusterEnvironment:
        if not place.host:
            raise Unset(
                f"{self._words.host[0]} is not set: a parameter server must be told its own address, "
                f"one of {', '.join(place.pservers)}."
            )
        own = f"{place.host}:{self._number(self._words.port, 'port')}"
        if own not in place.pservers:
            raise ClusterError(
                f"This parameter server is {own} ({self._words.host[0]}, {self._words.port}), which is not "
                f"in {self._words.pservers}: {', '.join(place.pservers)}. Correct one of the three."
            )
        return replace(place, port=int(own.rpartition(":")[2]))

    def _role(self) -> Role:
        if self._words.role is None:
            return "TRAINER"
        match self._text(self._words.role):
            case "TRAINER":
                return "TRAINER"
            case "PSERVER":
                return "PSERVER"
            case "HETER_TRAINER":
                raise NotInThisRelease(f"{self._words.role}=HETER_TRAINER is not in this release.")
            case other:
                raise ClusterError(f"{self._words.role} is {other!r}; it must be TRAINER or PSERVER.")

    def _pservers(self) -> tuple[str, ...]:
        listed = [entry.strip() for entry in self._text(self._words.pservers).split(",") if entry.strip()]
        if not listed:
            raise ClusterError(f"{self._words.pservers} lists no parameter server. Name them, or unset it.")
        if all(":" in entry for entry in listed):
            return self._checked(listed)
        if self._words.endpoints:
            raise ClusterError(f"{self._words.pservers} lists {', '.join(listed)}; each must be host:port.")
        port = self._number(self._words.port, "port")
        return self._checked([entry if ":" in entry else f"{entry}:{port}" for entry in listed])

    def _checked(self, endpoints: Sequence[str]) -> tuple[str, ...]:
        variable = self._words.pservers
        for index, endpoint in enumerate(endpoints):
            host, _, port = endpoint.rpartition(":")
            if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _HIGHEST_PORT:
                raise ClusterError(
                    f"{variable} lists {endpoint!r}, not an endpoint: write host:port, with a port from 1 "
                    f"to {_HIGHEST_PORT}."
                )
            if endpoint in endpoints[:index]:
                raise ClusterError(
                    f"{variable} lists {endpoint} twice: every parameter server is listed once, since each "
                    "keeps its own part of the parameters."
                )
        return tuple(endpoints)

    def _v2_number(self, flag: str, default: int) -> int:
        """Only the v2 dialect, the one without a role word, knows servers of several ports."""
        variable = f"PADDLE_INIT_{flag.upper()}"
        known = self._words.role is None and self._environ.get(variable)
        return self._number(variable, flag) if known else default

    def _number(self, variable: str, flag: str) -> int:
        value = BY_NAME[flag].parse(self._text(variable), variable)
        assert isinstance(value, int)  # the flags asked for here are whole numbers
        return value

    def _text(self, variable: str) -> str:
        text = self._environ.get(variable) or self._words.defaults.get(variable)
        if not text:
            spoken = self._words.spoken[0]
            raise Unset(
                f"{variable} is not set, but {spoken} is: a job that names one must name both. "
                f"Set {variable}, or unset {spoken} to train locally."
            )
        return text
