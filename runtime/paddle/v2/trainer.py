"""SGD: trains a network over passes of a reader's batches, on this machine or with parameter servers.

It must never know how a step is computed or where parameters live. Guarantee: events come in the documented
order, once each, but for the EndPass that a process which was started again repeats; a trainer that ends by
an error never says an orderly goodbye to parameter servers, so that the others of its job hear of it.
"""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from paddle import _blas
from paddle._data.ahead import Source, SourceAhead
from paddle._engine.exchange import Exchange, ModeSpec
from paddle._goodbye import Goodbye
from paddle._launch.environ import InitFlags, reporter
from paddle.v2 import _flags, event
from paddle.v2._divergence import Divergence
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.costs import COSTS
from paddle.v2._progress import Progress
from paddle.v2._training import Training
from paddle.v2.config_base import Layer
from paddle.v2.data_feeder import DataFeeder
from paddle.v2.optimizer import Optimizer
from paddle.v2.parameters import Parameters
from paddle.v2.topology import Topology

if TYPE_CHECKING:  # loaded only where there are parameter servers
    from paddle._pserver.trainer.remote import RemoteExchange

__all__ = ["SGD"]

_logger = logging.getLogger("paddle.trainer")

Reader = Callable[[], Iterator[Sequence[Any]]]
Feeding = Mapping[str, int] | Sequence[str] | None


class SGD:
    """Trains ``parameters`` so that ``cost`` falls, as ``update_equation`` says.

    ``cost``: a cost layer, or several that are summed. ``extra_layers``: computed beside it, for their
    evaluators; costs among them are learned from, too, and not counted in the cost that events tell.
    ``parameters`` grow by those of such a cost that they lack. ``is_local``: parameters are updated here;
    otherwise by the parameter servers that the flags of ``paddle.init`` name. Gradients are summed over the
    samples of a batch and over trainers, never averaged.

    Several trainers may train one ``parameters``, in turns: each goes on from what the one before it made of
    them, with its own momentum and so on. One whose parameters live on parameter servers cannot, once another
    has taken them over. A job on parameter servers has one trainer with ``is_local=False`` in each process:
    the servers refuse a second one, as its ``trainer_id`` is taken. ``pserver_spec``: with ``use_etcd=False``
    their addresses, ``host:port,host:port``, in place of the flags; otherwise it says where etcd is, and
    nothing is asked there.
    """

    def __init__(
        self,
        cost: Layer | Sequence[Layer],
        parameters: Parameters,
        update_equation: Optimizer,
        extra_layers: Layer | Sequence[Layer] | None = None,
        is_local: bool = True,
        pserver_spec: str | None = None,
        use_etcd: bool = True,
    ) -> None:
        if not isinstance(parameters, Parameters):
            raise WrongCall(f"parameters come from paddle.parameters.create(cost), not {parameters!r}")
        update_equation = getattr(update_equation, "_of_v2", lambda: update_equation)()  # a class of both
        if not isinstance(update_equation, Optimizer):
            raise WrongCall(f"update_equation is one of paddle.optimizer, not {update_equation!r}")
        self._topology = Topology(cost, extra_layers=extra_layers)
        self.__topology_in_proto__ = self._topology.proto()  # as programs older than get_topology_proto ask
        if beside := self._topology.beside(COSTS):
            there = Topology(beside)
            parameters._pool.grow(there.proto().parameters, there.initializers)
        parameters._pool.check(self._topology.proto().parameters)
        self._parameters = self.__parameters__ = parameters  # the latter as programs in handlers ask
        self._is_local = is_local
        self._mode = update_equation.update.mode
        self._flags = flags = _flags.current()
        self._at = flags if is_local else _told(flags, pserver_spec, use_etcd)
        seed = self._flags.seed + (self._flags.trainer_id << 32)  # trainers drop out by masks of their own
        threads = self._flags.trainer_count
        self._training = Training(self._topology, parameters._pool, update_equation.update, seed, threads)
        parameters._pool.note(update_equation.update)
        self._exchange: Exchange | None = None
        self._goodbye: Goodbye | None = None
        self._divergence = Divergence(None if is_local else self._flags.trainer_id)
        self._passes = self._passed_over = self._batches_over = 0
        self._may_read_ahead = self._reads_ahead = bool(self._flags.values["read_ahead"])
        self._warned = False

    def get_topology_proto(self) -> Any:
        """The network as a ModelConfig message."""
        return self._topology.proto()

    def train(
        self,
        reader: Reader,
        num_passes: int = 1,
        event_handler: Callable[[Any], None] | None = None,
        feeding: Feeding = None,
    ) -> None:
        """Train over ``num_passes`` passes of the batches that ``reader()`` yields.

        ``event_handler`` is called with each event of :mod:`paddle.v2.event`. ``feeding``: which slot of a
        row goes to which data layer; where not given, in the order in which the data layers were written.

        The next batch is read while a step is computed, in a thread, but never while a handler runs; the
        flag ``read_ahead`` of ``paddle.init`` says no to that. A pass that is left early has read one batch
        more than it learned from.

        Where a launcher has started this process again (PADDLE_RESTARTS), passes that the one before it has
        ended are passed over. Of these the last one's EndPass is handed out again, as the one before may have
        been lost in it, before it had saved the model; its metrics are NaN, for they went with that one.
        Where the whole job begins again in the midst of a pass, the batches of it that are in the values are
        read and passed over, without an event.

        An error that leaves ``train`` is told to parameter servers when the program ends, except
        ``sys.exit(0)`` in a handler, and except where the program caught it and then a ``train``, ``test`` or
        ``save_parameter_to_tar`` of this trainer succeeded, outside the ``except`` or ``finally`` block.
        """
        handler = event_handler or (lambda each: None)
        if not callable(reader):
            raise WrongCall("the reader of train() is a callable that returns an iterator over batches")
        if not callable(handler):
            raise WrongCall("the event_handler of train() is a callable that takes an event")
        feeder = self._training.feeder(feeding)
        exchange = self._exchange or self._start()
        try:
            self._training.resume()
            for pass_id in range(self._pass_over(num_passes, handler), num_passes):
                self._pass(pass_id, exchange, reader, feeder, handler)
        except BaseException as error:
            if self._goodbye is not None:
                self._goodbye.failed(error)
            raise
        self._succeeded()

    def test(self, reader: Reader, feeding: Feeding = None) -> event.TestResult:
        """Compute cost and metrics over the batches that ``reader()`` yields; nothing is learned."""
        feeder = self._training.feeder(feeding)
        total = self._training.test((feeder(batch), len(batch)) for batch in reader())
        if not total.samples:
            raise WrongCall("the reader given to test() yielded no batch")
        self._succeeded()
        return event.TestResult(total.cost, total.metrics)

    def save_parameter_to_tar(self, f: IO[Any]) -> None:
        """Write the parameters as they are now; see :meth:`Parameters.to_tar`.

        With ``model_average`` in the optimizer, their averages over the last steps. (These are for keeping:
        ``test`` computes with the parameters as they are, as in the original.)
        """
        self._parameters._write_tar(f, self._training.averages())
        self._succeeded()

    def _start(self) -> Exchange:
        remote = None if self._is_local else _remote(self._at)
        exchange = _local() if remote is None else _trained(remote, self._mode, self._flags)
        try:
            self._training.start(exchange, remote=not self._is_local)
        except Exception as error:
            exchange.close(f"{type(error).__name__}: {error}")  # pservers say why this trainer is not there
            raise
        self._exchange = exchange
        blas = _blas.loaded() or "unknown"
        _logger.info("trainer_count=%d BLAS in each of them: %s", self._flags.trainer_count, blas)
        if remote is not None:
            self._goodbye = Goodbye(self._parameters, exchange)
            if _flags.is_again():
                self._passed_over, pushes = remote.next_pass, remote.passed
                self._batches_over = pushes * (self._mode.k_steps if self._mode.is_local else 1)
        return exchange

    def _pass_over(self, num_passes: int, handler: Callable[[Any], None]) -> int:
        """Pass over what was ended before this process; gives the pass to begin with."""
        begin = min(self._passed_over, num_passes)
        self._passed_over, self._passes = self._passed_over - begin, self._passes + begin
        is_of_this_call = begin and not self._passed_over
        if is_of_this_call and not self._batches_over:  # else the values are not those of its end any more
            handler(
                event.EndPass(
                    begin - 1, dict.fromkeys(self._training.metrics, math.nan), self._training.machine
                )
            )
        return begin

    def _succeeded(self) -> None:
        if self._goodbye is not None:
            self._goodbye.succeeded()

    def _warn_of_no_batch(self, pass_id: int) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"pass {pass_id} had no batch, so nothing was learned in it: the reader of train() must "
                "yield its batches anew each time it is called",
                RuntimeWarning,
                stacklevel=4,
            )

    def _pass(
        self,
        pass_id: int,
        exchange: Exchange,
        reader: Reader,
        feeder: DataFeeder,
        handler: Callable[[Any], None],
    ) -> None:
        log_period: Any = self._flags.values["log_period"]
        progress = Progress(pass_id, log_period, reporter(), time.monotonic)
        handler(event.BeginPass(pass_id))
        exchange.begin_pass(self._passes)
        over, self._batches_over = self._batches_over, 0
        self._training.begin_pass(self._passes, over)
        gm = self._training.machine
        kind = SourceAhead if self._reads_ahead else Source
        with kind(reader, feeder, time.perf_counter, over) as source:
            for batch_id, batch in enumerate(iter(source.next, None), over):
                handler(event.BeginIteration(pass_id, batch_id))
                feed = batch.feed()
                source.begin_turn()
                tally = self._training.step(feed, batch.samples)
                source.end_turn()
                handler(event.EndForwardBackward(pass_id, batch_id, gm))
                cost = tally.cost
                progress.batch(batch_id, tally, cost)
                self._divergence.look(pass_id, batch_id, cost)
                handler(event.EndIteration(pass_id, batch_id, cost, tally.metrics, gm))
        self._reads_ahead = self._may_read_ahead and source.pace.is_worth_a_thread
        exchange.end_pass(self._passes)
        self._passes += 1
        if not progress.total.samples and not over:
            self._warn_of_no_batch(pass_id)
        progress.end()
        handler(event.EndPass(pass_id, progress.total.metrics, gm))


def _local() -> Exchange:
    from paddle._pserver.trainer.local import LocalExchange

    return LocalExchange()


def _trained(exchange: Any, mode: ModeSpec, flags: Any) -> Exchange:
    """What is the trainer's part of ``mode``, around ``exchange``."""
    from paddle._pserver.trainer.trainer_modes import in_mode

    return in_mode(exchange, mode, flags.num_gradient_servers)


def _told(flags: InitFlags, spec: str | None, use_etcd: bool) -> InitFlags:
    """The flags with what ``spec`` says: ``host:port,host:port`` or, with ``use_etcd``, nothing: there is no
    etcd, by which servers would be looked up, and they are those of the flags."""
    if spec is None:
        return flags
    if use_etcd:
        warnings.warn(
            f"pserver_spec {spec}: no etcd is asked, parameter servers are those of the flags: "
            f"{','.join(flags.pservers)} port {flags.port}",
            RuntimeWarning,
            stacklevel=3,
        )
        return flags
    places: defaultdict[str, set[int]] = defaultdict(set)
    for address in spec.split(","):
        host, _, port = address.strip().rpartition(":")
        if not host or not port.isdecimal():
            raise WrongCall(f"pserver_spec without etcd is host:port,host:port, not {spec!r}")
        places[host].add(int(port))
    ports, *others = places.values()
    if any(each != ports for each in others) or max(ports) - min(ports) >= len(ports):
        raise WrongCall(
            f"pserver_spec {spec!r}: hosts have the same ports, one behind another, as `paddle pserver "
            "--port=7164 --ports_num=2` opens them"
        )
    return replace(flags, pservers=tuple(places), port=min(ports), ports_num=len(ports))


def _remote(flags: Any) -> RemoteExchange:
    from paddle._pserver.protocol.wire import wire_of
    from paddle._pserver.trainer.remote import RemoteExchange

    return RemoteExchange(
        flags.pservers,
        port=flags.port,
        ports_num=flags.ports_num,
        ports_num_for_sparse=flags.ports_num_for_sparse,
        num_gradient_servers=flags.num_gradient_servers,
        trainer_id=flags.trainer_id,
        connect_timeout_s=flags.connect_timeout,
        reconnect_timeout_s=flags.reconnect_timeout,
        journal_bytes=flags.journal_limit << 20,
        token_file=flags.token_file,
        wire=wire_of(flags.wire, flags.wire_topk, flags.wire_answers),
        tls_ca=flags.tls_ca,
    )
