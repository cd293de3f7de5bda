"""The door to the parameter server: where the exchange of a program comes from, and who runs a server.

A program that is trained on a cluster names a ``Carrier``; the parameters of any other lie in this process.
It must never know a program's operators.

Guarantee: what was begun with parameter servers ends with a goodbye, when it is closed or the process ends,
and an error with which a program ends is told to the others of its job (_goodbye.py).
"""

from __future__ import annotations

import atexit
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from paddle import _exits
from paddle._engine.exchange import ModeSpec, SteppingAhead
from paddle._goodbye import Goodbye, uncaught
from paddle._loading import undisturbed
from paddle._program.errors import BadArgument, BadProgram
from paddle._program.told_to_stop import listen
from paddle._program.upstream_flags import deadline_s

if TYPE_CHECKING:
    from paddle._engine.exchange import Exchange, ParameterSpec, Remembering, UpdateSpec
    from paddle._launch.environ import InitFlags
    from paddle._pserver.options import SnapshotOptions
    from paddle._pserver.trainer.remote import RemoteExchange
    from paddle._pserver.trust.tls import Certificate

_groups: defaultdict[tuple[tuple[str, ...], int], set[int]] = defaultdict(set)  # begun here, of each job
_started: dict[int, Carrier] = {}  # that have not said goodbye
_MISSED_S = 600.0  # for which a trainer is missed, as by other pservers
_PATIENCE_S = 180.0  # with which the original waits for a server that is not there yet
_WORD_S = 5.0  # with which a process that ends waits for one
_SEVERAL_RULES = (
    "a program with several optimizers, or several variables that hold learning rates, is not trained on "
    "`paddle pserver`s in this release: train all of it by one optimizer, or launch it with "
    "`python -m paddle.distributed.launch`, where the program is the server too"
)
_SECOND_PROGRAM = (
    "a program is not trained on `paddle pserver`s while another one of this process is, or was without "
    "saying goodbye, in this release: train each in a job of its own"
)
_PROCESS = type("Process", (), {})()  # exchanges are left when it ends, unless they are closed before


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The job that a trainer is part of. ``endpoints``: of its servers, ``host:port``, in the order that all
    of the job give."""

    endpoints: tuple[str, ...]
    trainers: int = 1
    trainer_id: int = 0
    mode: ModeSpec = field(default_factory=ModeSpec)

    def __post_init__(self) -> None:
        from paddle._engine.errors import ExchangeError
        from paddle._pserver.trainer.places import at_endpoints

        try:
            at_endpoints(self.endpoints)
        except ExchangeError as error:
            raise BadArgument(str(error)) from error
        if not isinstance(self.trainers, int) or self.trainers < 1:
            raise BadArgument(f"a job has 1 trainer or more, not {self.trainers!r}")
        if not isinstance(self.trainer_id, int) or not 0 <= self.trainer_id < self.trainers:
            raise BadArgument(number_of_none(self.trainer_id, self.trainers))


def number_of_none(trainer_id: Any, trainers: int) -> str:
    """What is said of a number that no trainer has."""
    return f"trainer_id is {trainer_id!r}, and a job of {trainers} trainers numbers them 0 to {trainers - 1}"


class Carrier:
    """What gives the exchange of a program that is trained on ``cluster``. ``outlives_executors``: one that
    is closed says no goodbye for it, as fleet has a call of its own for that."""

    def __init__(self, cluster: Cluster, *, outlives_executors: bool = False) -> None:
        self.cluster = cluster
        self.outlives_executors = outlives_executors
        self._exchanges: dict[int, tuple[Exchange, Goodbye]] = {}
        self.is_known = False  # whether servers have ever heard of this trainer
        self._declines = False  # at the end of the process

    def __call__(self) -> Remembering:
        """The exchange of the next group of parameters that have a rule and a rate of their own; all trainers
        of the job ask for them in one order."""
        taken = _groups[self.cluster.endpoints, self.cluster.trainer_id]
        _started[id(self)] = self
        listen(_tell_all)
        number = next(number for number in count() if number not in taken)
        if number and not self._exchanges and self.meets_commands:
            raise _not_in_this_release(_SECOND_PROGRAM)
        exchange, self.is_known = _remote(self.cluster, number), True
        taken.add(number)
        self._exchanges[number] = exchange, Goodbye(_PROCESS, exchange)
        return exchange

    @property
    def meets_commands(self) -> bool:
        """Whether its servers are `paddle pserver`s, and no process of the program is one."""
        from paddle._launch.environ import shared_ports

        return shared_ports(os.environ, self.cluster.endpoints) is not None

    @property
    def has_begun(self) -> bool:
        """Whether it trains now: servers have been met, and nobody has said goodbye."""
        return bool(self._exchanges)

    def update(self, update: UpdateSpec) -> UpdateSpec:
        """``update`` as it is done in this job."""
        return replace(update, mode=self.cluster.mode)

    def failed(self, error: BaseException) -> None:
        """An error leaves a run."""
        for _, goodbye in self._exchanges.values():
            goodbye.failed(error)

    def succeeded(self) -> None:
        """A run ended well."""
        for _, goodbye in self._exchanges.values():
            goodbye.succeeded()

    def decline(
        self,
        groups: Iterable[Sequence[ParameterSpec]],
        within_s: float | None = None,
        failure: str | None = None,
    ) -> None:
        """Say goodbye to servers that have never heard of this trainer, and would wait for it. ``groups``:
        the parameters that it has no part in; ``within_s``: how long servers are waited for; ``failure``: the
        error because of which it has none."""
        if not self.is_known:
            self.is_known = True
            for number, parameters in enumerate(groups):
                _to_servers(self.cluster, number, within_s).decline(parameters, failure)

    def decline_at_end(
        self, groups: Callable[[], Iterable[Sequence[ParameterSpec]]], *, only_failed: bool = False
    ) -> None:
        """The same when the process ends, with the error by which it does; ``only_failed``: if it does by
        one. Idempotent."""
        from paddle._engine.errors import ExchangeError

        own = os.getpid()

        def decline() -> None:
            failure = uncaught()
            if os.getpid() == own and (failure or not only_failed):
                with suppress(ExchangeError):
                    self.decline(groups(), _WORD_S, failure)

        if not self._declines:
            self._declines = True
            _exits.listen()
            atexit.register(decline)

    def close(self) -> None:
        """Say goodbye. Idempotent."""
        _started.pop(id(self), None)
        exchanges, self._exchanges = self._exchanges, {}
        _groups[self.cluster.endpoints, self.cluster.trainer_id] -= exchanges.keys()
        with ExitStack() as closing:
            for exchange, goodbye in exchanges.values():
                goodbye.leaves()
                closing.callback(goodbye.say, exchange)
            for exchange, _ in exchanges.values():
                if isinstance(exchange, SteppingAhead):
                    exchange.settle()


class Onlooker(Carrier):
    """Of a program that moves no parameter: servers keep nothing of it, and end when it is over."""

    def __call__(self) -> Remembering:
        raise BadProgram(
            "this program moves parameters that no server keeps: DistributeTranspiler.transpile was called "
            "before optimizer.minimize, and 1.8 then trains each trainer for itself. Call minimize first, "
            "and transpile the same program behind it"
        )

    def succeeded(self) -> None:
        """A run ended well: this is a trainer, and others wait for it."""
        if not self.is_known:
            from paddle._engine.exchange import RuleSpec, ScheduleSpec, UpdateSpec

            exchange = super().__call__()
            update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec())
            exchange.start((), self.update(update), {})
        super().succeeded()


class Unnumbered(Carrier):
    """Of a process whose number is none of a trainer: of a server, which may transpile with a number of its
    own. ``complaint``: what is said where it trains all the same."""

    def __init__(self, cluster: Cluster, complaint: str) -> None:
        super().__init__(cluster)
        self.complaint = complaint

    def __call__(self) -> Remembering:
        raise BadArgument(self.complaint)


def _tell_all(error: BaseException) -> None:
    for carrier in list(_started.values()):
        carrier.failed(error)


def close_all() -> None:
    """Say goodbye to all servers that this process trains with, and that executors say it to."""
    for carrier in list(_started.values()):
        if not carrier.outlives_executors:
            carrier.close()


def exchange_of(carrier: Carrier | None) -> Remembering:
    """A new exchange: what ``carrier`` gives, or one in this process."""
    if carrier is not None:
        return carrier()
    from paddle._pserver.trainer.local import LocalExchange

    return LocalExchange()


def refresh_of(exchange: Exchange, *, has_tables: bool) -> Callable[[], Any] | None:
    """What brings the arrays of an exchange up to date for somebody who reads them; None: they always are."""
    if has_tables:
        return exchange.fetch
    return exchange.settle if isinstance(exchange, SteppingAhead) else None


def _remote(cluster: Cluster, group: int) -> Remembering:
    with undisturbed():
        from paddle._pserver.trainer.trainer_modes import in_mode

    return in_mode(_to_servers(cluster, group), cluster.mode, cluster.trainers)


def _to_servers(cluster: Cluster, group: int, within_s: float | None = None) -> RemoteExchange:
    from paddle._launch.environ import read_ways, shared_ports

    with undisturbed():
        from paddle._pserver.protocol.wire import wire_of
        from paddle._pserver.trainer.remote import RemoteExchange

    flags, shared = read_ways(os.environ), shared_ports(os.environ, cluster.endpoints)
    if shared is not None and group:
        raise _not_in_this_release(_SEVERAL_RULES)
    port, ports_num, ports_num_for_sparse = shared or (None, 1, 1)
    hosts = [endpoint.rpartition(":")[0] for endpoint in cluster.endpoints]
    return RemoteExchange(
        cluster.endpoints if port is None else hosts,
        port=port,
        ports_num=ports_num,
        ports_num_for_sparse=ports_num_for_sparse,
        num_gradient_servers=cluster.trainers,
        trainer_id=cluster.trainer_id,
        connect_timeout_s=_patience_s(flags) if within_s is None else within_s,
        reconnect_timeout_s=flags.reconnect_timeout,
        journal_bytes=flags.journal_limit << 20,
        token_file=flags.token_file,
        wire=wire_of(flags.wire, flags.wire_topk, flags.wire_answers),
        tls_ca=flags.tls_ca,
        group=group,
    )


def _not_in_this_release(text: str) -> Exception:
    from paddle._absent import NotInThisRelease

    return NotInThisRelease(text)


def _patience_s(flags: InitFlags) -> float:
    """How long servers are waited for that are not there yet."""
    return flags.connect_timeout if "connect_timeout" in flags.given else deadline_s(_PATIENCE_S)


def living_on(server: int, servers: int) -> Callable[[str, Any], Any]:
    """What says of a table's name and of ids which of these rows live on a server."""
    from paddle._pserver.protocol.placement import lives_on

    return lambda name, ids: lives_on(name, ids, server, servers)


def serve(
    endpoint: str,
    trainers: int,
    *,
    name: str = "",
    on_ready: Callable[[str, int], None] = lambda address, port: None,
    tables: Mapping[str, tuple[Any, int]] = MappingProxyType({}),
    arrays: Mapping[str, tuple[Any, int]] = MappingProxyType({}),
) -> None:
    """Be the parameter server at ``endpoint`` for so many trainers, in this process. ``tables``: rows of
    sparse parameters that it has already; ``arrays``: values of dense ones (ShardOptions). ``name``: of this
    server in its job, wherever that runs; the folder of its snapshots is called so.

    Returns when all have said goodbye or are gone for good. SIGINT and SIGTERM end it in order, and this
    process with status 0, as they do in the original. Raises PserverError where the job did not end well.
    """
    from paddle._launch.environ import files, reporter
    from paddle._launch.infolog import open_info_log
    from paddle._reported import Reported

    with undisturbed():
        from paddle._pserver.service import endpoint as here
        from paddle._pserver.trainer.places import parse_endpoint
        from paddle._pserver.trust.token_file import token_of

    address, port = parse_endpoint(endpoint)
    paths = files({"token_file": "", "tls_cert": "", "tls_key": ""}, os.environ)
    token = token_of(paths["token_file"], _say)
    certificate = _certificate(paths["tls_cert"], paths["tls_key"])

    def ready(address: str, port: int) -> None:
        _tell_of(address, port, trainers, is_open=token is None)
        reporter().ready([(address, port)])
        on_ready(address, port)

    open_info_log("paddle_pserver2", os.environ)
    options = here.EndpointOptions(
        address=address,
        port=port,
        trainers=trainers,
        barrier_timeout_s=_MISSED_S,
        snapshots=_snapshots(name or endpoint.replace(":", "-")),
        tables=tables,
        arrays=arrays,
    )
    watcher = Reported("parameter server", raises=True)
    if not here.serve(options, ready, watcher, token, certificate, reporter().news):
        watcher.say()
        raise SystemExit(0)


def _tell_of(address: str, port: int, trainers: int, *, is_open: bool) -> None:
    """Say where a server listens; and who is let in, where it asks for no token."""
    from paddle._launch import nics

    given = "every process of the job with PADDLE_TOKEN_FILE=job.token"
    for warning in nics.exposed([address], given) if is_open else ():
        _say(f"warning: {warning}")
    _say(f"the parameter server listens on {address}:{port}, for trainers: {trainers}")


def _snapshots(name: str) -> SnapshotOptions | None:
    """Those that the environment asks for."""
    from paddle._launch.environ import snapshots
    from paddle._pserver.memory import memory
    from paddle._pserver.options import SnapshotOptions, snapshot_bytes

    if not (told := snapshots(os.environ)):
        return None
    memory_bytes = snapshot_bytes(told["snapshot_memory"], memory.limit_bytes(), "PADDLE_SNAPSHOT_MEMORY")
    folder = Path(told["snapshot_dir"], name)
    folder.mkdir(parents=True, exist_ok=True)
    return SnapshotOptions(
        folder=str(folder),
        period=told["snapshot_period"],
        interval_s=told["snapshot_interval"],
        keep=told["snapshot_keep"],
        memory_bytes=memory_bytes,
    )


def _certificate(cert: str, key: str) -> Certificate | None:
    if not cert and not key:
        return None
    from paddle._pserver.trust.tls import read_certificate

    certificate, warning = read_certificate(cert, key)
    _say(warning or "")
    return certificate


def _say(text: str) -> None:
    if text:
        print(text, file=sys.stderr, flush=True)
