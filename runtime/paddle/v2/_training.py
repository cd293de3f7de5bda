"""Training: one network, its programs, and the place where its parameters live.

It must never know events or readers, and of passes only when one begins. Guarantee: who reads a parameter
after a step reads that of the next one, though new values may be on their way when a step returns; a test
changes nothing; both begin from what the pool holds, whoever trained it. What is drawn in a batch follows
from the seed, the pass and the batch's place in it, also in a process that began with a later pass.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.exchange import Exchange, Overlapping, UpdateSpec
from paddle._engine.executor import Executor
from paddle._engine.program import GRAD, Program, Variable
from paddle._engine.pruning import MASK, append_pruning, mask_of, pruned
from paddle._engine.teams.team import Team
from paddle.v2._config import LayerConfig
from paddle.v2._feeding.parts import parts
from paddle.v2._lowering.costs import COSTS
from paddle.v2._lowering.network import Network
from paddle.v2._machine import GradientMachine
from paddle.v2._measures.printers import gradient_printer
from paddle.v2._pool import Keeper, Pool
from paddle.v2._tally import Meter, Tally, meters, tally, variables
from paddle.v2.data_feeder import DataFeeder
from paddle.v2.topology import Topology

_logger = logging.getLogger("paddle.trainer")

Feed = Mapping[str, np.ndarray]
Feeding = Mapping[str, int] | Sequence[str] | None


class Training:
    """Steps and tests of the network ``topology``, whose outputs are costs. ``seed``: of dropout.
    ``threads``: in as many parts is a batch computed."""

    def __init__(
        self, topology: Topology, pool: Pool, update: UpdateSpec, seed: int, threads: int = 1
    ) -> None:
        self._pool = pool
        self._update = update
        self._seed, self._pass_seed, self._steps = seed, seed, 0
        self._fed = topology.fed_type()
        self._beside = [layer.name for layer in topology.beside(COSTS)]
        self.machine = GradientMachine(pool, threads)
        self._lower(Network(topology.proto(), dict(topology.data_type())))
        self._keeper: Keeper | None = None
        self._threads = threads
        self._has_told = False
        self._runner: Executor | Team = Executor(pool.scope)

    def _lower(self, net: Network) -> None:
        """Make of a network the programs of a step and of a test."""
        self._net, self._images = net, net.images
        self._meters: list[Meter] = meters(net)
        cost, objective = _costs(net, self._beside)
        self._wanted = [cost, *variables(self._meters)]
        self._test_program: Program = net.program.clone(for_test=True)
        self._names = [parameter.name for parameter in net.program.parameters()]
        self._ratios = net.sparsity_ratios()
        pairs = append_pruning(net.program, append_backward(net.program, objective), self._ratios)
        append_exchange(net.program, pairs)
        self._returned = _returned(net)
        self.machine._read(net, pairs)
        self._trained = [parameter.spec for parameter, _ in pairs]
        self._program = net.program

    def start(self, exchange: Exchange, remote: bool) -> None:
        """Hand the parameters over to ``exchange``."""
        names = [spec.name for spec in self._trained]
        values = dict(zip(names, self._pool.current(names), strict=True))
        ratios = {name: ratio for name, ratio in self._ratios.items() if name in values}
        values |= {name: pruned(values[name], ratio) for name, ratio in ratios.items()}
        arrays = exchange.start(self._trained, self._update, values)
        self._pool.scope.bind({name + MASK: mask_of(arrays[name], ratio) for name, ratio in ratios.items()})
        settle = exchange.settle if isinstance(exchange, Overlapping) else lambda: None
        gradient = self.machine._gradient
        self._keeper = Keeper(arrays, exchange.fetch, exchange.averages, remote, settle, gradient)
        self._pool.follow(self._keeper)
        given = (exchange, exchange.room(), names)
        scope = self._pool.scope
        self._runner = Team(scope, self._threads, *given) if self._threads > 1 else Executor(scope, *given)
        self._draw()

    @property
    def metrics(self) -> list[str]:
        """The names of what is measured beside the cost."""
        return [name for meter in self._meters for name in meter.names]

    def feeder(self, feeding: Feeding) -> DataFeeder:
        """What makes arrays of batches."""
        return DataFeeder(self._fed, feeding, self._images)

    def resume(self) -> None:
        """Take the parameters back, if another training has had them since."""
        if self._keeper is not None and not self._pool.follows(self._keeper):
            self._pool.hand_back(self._keeper)

    def averages(self) -> Mapping[str, np.ndarray]:
        """The trained parameters averaged over the last steps; none where the optimizer averages nothing."""
        if self._update.average is None or self._keeper is None or not self._pool.follows(self._keeper):
            return {}
        return self._keeper.averages()

    def begin_pass(self, number: int, passed_over: int = 0) -> None:
        """Pass ``number`` begins, as the job counts them, after so many batches of it."""
        self._pass_seed = int(np.random.SeedSequence((self._seed, number)).generate_state(1, np.uint64)[0])
        self._steps = passed_over

    def step(self, feed: Feed, samples: int) -> Tally:
        """Compute the gradients of a batch and learn from them."""
        self.resume()
        self._steps += 1
        feed = self._fitted(feed) if self._images else feed
        looked = self.machine._begin(feed, samples, {"seed": self._pass_seed, "step": self._steps})
        return self._run(self._runner, self._program, feed, samples, looked, trains=True)

    def test(self, batches: Iterable[tuple[Feed, int]]) -> Tally:
        """Compute cost and metrics of batches, each with its number of samples, as a test does."""
        total, runner = Tally(), self._runner
        if self._keeper is None or not self._pool.follows(self._keeper):
            self._pool.current(self._names)
            runner = Executor(self._pool.scope)
        for feed, samples in batches:
            fed = self._fitted(feed) if self._images else feed
            total.add(self._run(runner, self._test_program, fed, samples))
        return total

    def _fitted(self, feed: Feed) -> Feed:
        """A batch as the programs take it, which are made anew where its images are of other sizes."""
        net = self._net.opened(feed)
        if net is not self._net:
            self._lower(net)
        return net.fitted(feed)

    def _print(self, parts: Sequence[Sequence[np.ndarray]]) -> None:
        """What came back to the layers whose gradients are printed, from each part of a batch."""
        back = [iter(part) for part in parts]
        for layer, came in self._returned.items():
            gradient_printer(layer, [next(each) for each in back] if came else ["none"])

    def _tell_of_parts(self, count: int) -> None:
        """Once: which layers see their part alone of a batch that is computed in parts."""
        if self._has_told:
            return
        self._has_told = True
        if layers := [layer.name for layer in self._net.config.layers if _is_of_a_batch(layer)]:
            _logger.warning(
                "trainer_count=%d: a batch is computed in %d parts, and what some layers make of a sample "
                "follows from its part alone, as in the original; the result is not that of one thread: %s",
                *(self._threads, count, ", ".join(layers)),
            )

    def _draw(self) -> None:
        """Give a value to each parameter that the exchange does not keep, such as a static one."""
        for name in self._names:
            self._pool[name]

    def _run(
        self,
        runner: Executor | Team,
        program: Program,
        feed: Feed,
        samples: int,
        looked: Sequence[Variable] = (),
        trains: bool = False,
    ) -> Tally:
        prints = trains and bool(self._returned)
        back = [variable for each in self._returned.values() for variable in each] if prints else []
        wanted, behind, last = [*looked, *self._wanted, *back], len(looked), len(looked) + len(self._wanted)
        seed, step = self._pass_seed, self._steps
        if isinstance(runner, Executor):
            found = [runner.run(program, feed, wanted, samples=samples, seed=seed, step=step)]
            total = tally(self._meters, samples, found[0][behind:last])
        else:
            total, several = Tally(), parts(feed, samples, runner.parts_for(program, feed, samples))
            if trains and len(several) > 1:
                self._tell_of_parts(len(several))
            found = runner.run(program, several, wanted, seed=seed, step=step)
            for part, each in zip(several, found, strict=True):
                total.add(tally(self._meters, part.samples, each[behind:last]))
        if looked:
            self.machine._end([each[:behind] for each in found])
        if prints:
            self._print([each[last:] for each in found])
        return total


def _is_of_a_batch(layer: LayerConfig) -> bool:
    """Whether what it makes of a sample follows from the others, too: by their mean and variance, or by how
    many objects they show."""
    return layer.type == "multibox_loss" or (layer.type == "batch_norm" and not layer.use_global_stats)


def _returned(net: Network) -> dict[str, list[Variable]]:
    """What comes back to the layers whose gradients are printed: none where no parameter lies before them."""
    printers = [each for each in net.config.evaluators if each.type == "gradient_printer"]
    layers = [name for each in printers for name in each.input_layers]
    known = net.program.main.variables
    names = {layer: net.value(layer).name + GRAD for layer in layers}
    return {layer: [known[name]] if name in known else [] for layer, name in names.items()}


def _costs(net: Network, beside: Sequence[str]) -> tuple[Variable, Variable]:
    """The variable of a batch's cost, and the one to take gradients of: each sample's, times ``coeff``, and
    of several costs their sum, as one may have a row for each sample and another for each moment.

    ``beside``: costs that are learned from, and not counted; what comes back to these is multiplied already.
    """
    op, layers = net.builder.op, {layer.name: layer for layer in net.config.layers}
    costs = {name: net.value(name) for name in net.config.output_layer_names}
    total = net.summed([op("reduce_sum", X=cost) for cost in costs.values()])
    scales = {name: {"scale": layers[name].coeff} for name in costs if layers[name].coeff != 1.0}
    scaled = [op("scale", scales[name], X=cost) if name in scales else cost for name, cost in costs.items()]
    scaled += [net.value(name) for name in beside]
    if len(scaled) == 1:
        return total, scaled[0]
    if not scales and not beside:
        return total, total
    return total, net.summed([op("reduce_sum", X=cost) for cost in scaled])
