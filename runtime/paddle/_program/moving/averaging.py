"""What is done with parameters beside moving them: averages over steps, and values that look ahead.

It must never know how a parameter is moved. Guarantee: within ``apply`` parameters are averages, after it
what they were before, whatever happened in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any, NoReturn

import numpy as np

from paddle._engine.averages import ARRAYS, Average
from paddle._engine.exchange import AverageSpec
from paddle._program.description import unique_name
from paddle._program.description.guards import default_main_program, default_startup_program
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadArgument
from paddle._program.running.scope import global_scope
from paddle._program.writing.optimizer import Optimizer, persistent


class _Applied:
    """Puts other values in the place of parameters, and brings these back."""

    def __init__(self) -> None:
        self._before: dict[str, np.ndarray] = {}
        self._aside: list[Any] = []  # who would bring other values meanwhile

    def _values(self) -> Mapping[str, np.ndarray]:
        raise NotImplementedError

    @contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """Parameters are averages within the block, and after it too unless ``need_restore``."""
        values = self._values()
        self._before = {name: _array(name).copy() for name in values}
        kept = global_scope().keepers.values()
        self._aside = [each for each in kept if not values.keys().isdisjoint(each.group.names)]
        _step_aside(self._aside, True)
        _put(values)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any = None) -> None:
        """Parameters are what they were before ``apply``."""
        _put(self._before)
        _step_aside(self._aside, False)
        self._before, self._aside = {}, []


class ModelAverage(_Applied):
    """Parameters averaged over the last steps, as many as ``average_window_rate`` of all there were, but no
    fewer than ``min_average_window`` and no more than ``max_average_window``; see averages.py of the engine.

    It is made behind ``minimize``, in the program that trains. Who keeps the parameters averages them; those
    that no optimizer moves, such as the means and variances of a batch norm, are averaged in the program.
    """

    def __init__(
        self,
        average_window_rate: float,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        regularization: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        program = default_main_program()
        averaged = [each for each in program.all_parameters() if each.do_model_average is not False]
        self._names = [each.name for each in averaged if each.trainable]
        self._kept = [each.name for each in averaged if not each.trainable]
        self._spec = AverageSpec(
            window=float(average_window_rate),
            min_window=int(min_average_window),
            max_window=int(max_average_window),
        )
        attrs = {
            "average_window": float(average_window_rate),
            "min_average_window": int(min_average_window),
            "max_average_window": int(max_average_window),
        }
        with program._optimized_guard():
            for name in self._names:
                inputs = {"Param": [name]}
                program.global_block().append_op("average_accumulates", inputs=inputs, attrs=attrs)
            for each in averaged:
                if not each.trainable:
                    _append_kept(program, each, attrs)

    def _values(self) -> Mapping[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for keeper in global_scope().keepers.values():
            if keeper.group.update.average is not None:
                found |= keeper.exchange.averages()
        values = {name: found[name] for name in self._names if name in found}
        if not values:
            raise BadArgument(
                "there is nothing averaged yet: ModelAverage is made behind minimize, in the program that "
                "trains, and applied after steps of it in the same scope"
            )
        return values | {name: self._mean(name) for name in self._kept}

    def _mean(self, name: str) -> np.ndarray:
        """The average of one that no optimizer moves."""
        value = _array(name)
        average = Average(value.reshape(-1), self._spec)
        for kind, held in zip(_KEPT, average.state().values(), strict=False):
            held[...] = _array(f"{name}.{kind}")
        return average.mean(value.reshape(-1)).reshape(value.shape)


_KEPT = ("average_sums", "average_counts")


def _append_kept(program: Program, parameter: Parameter, attrs: Mapping[str, Any]) -> None:
    shapes = {"average_sums": ([ARRAYS, prod(parameter.shape)], "float32"), "average_counts": ([3], "int64")}
    states = [persistent(f"{parameter.name}.{kind}", *shapes[kind], 0.0, program).name for kind in _KEPT]
    inputs = {"Param": [parameter.name], "State": states}
    program.global_block().append_op("average_kept", inputs, {"StateOut": states}, attrs)


class ExponentialMovingAverage(_Applied):
    """Of each parameter ``decay`` of its average and the rest of its value, at each ``update``. With
    ``thres_steps``, a variable that counts steps, decay is at most (1 + steps) / (10 + steps). What outlives
    a run has the names of 1.8 and 2.6."""

    def __init__(
        self, decay: float = 0.999, thres_steps: Variable | None = None, name: str | None = None
    ) -> None:
        super().__init__()
        self._decay, self._steps, self._name = float(decay), thres_steps, name or ""
        self._averages: dict[str, str] = {}
        self._told: tuple[str, ...] = ()

    def update(self) -> None:
        """Append what averages, behind ``minimize``."""
        program = default_main_program()
        for each in program.all_parameters():
            if each.do_model_average is not False:
                name = unique_name.generate(f"{self._name}{each.name}_ema")
                self._averages[each.name] = persistent(name, each.shape, each.dtype, 0.0, program).name
        self._told = (
            persistent(_own(program, "@EMA_STEP_COUNTER@"), [1], "int64", 0, program).name,
            persistent(_own(program, "scheduled_ema_decay_rate"), [1], "float32", self._decay, program).name,
        )
        kept = [*self._averages.values(), *self._told]
        inputs = {"Param": list(self._averages), "Average": kept}
        if self._steps is not None:
            inputs["Steps"] = [self._steps.name]
        with program._optimized_guard():
            attrs = {"decay": self._decay}
            program.global_block().append_op("moving_average", inputs, {"AverageOut": kept}, attrs)

    def _values(self) -> Mapping[str, np.ndarray]:
        if not self._told:
            raise BadArgument("ExponentialMovingAverage.update() goes into the program that trains, first")
        steps, rate = (_array(name)[0] for name in self._told)
        if not steps:
            raise BadArgument("there is nothing averaged yet: run a step of the program that trains")
        share = np.float32(1.0 - float(rate) ** int(steps))
        return {name: _array(average) / share for name, average in self._averages.items()}


def _own(program: Program, name: str) -> str:
    """The original's name; of a second average of one program another one."""
    return unique_name.generate(name) if program.global_block().has_var(name) else name


class LookaheadOptimizer:
    """Another optimizer's steps, and every ``k`` of them back to the first, and ``alpha`` of the way."""

    _slow, _is_of_two = "{}@SLOW", False

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5) -> None:
        if not 0.0 <= alpha <= 1.0 or k < 1:
            raise BadArgument(f"alpha is between 0 and 1 and k at least 1, not {alpha} and {k}")
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, alpha, k
        self.type = "lookahead"

    def minimize(self, loss: Variable, startup_program: Any = None) -> tuple[list[Operator], Any]:
        """See Optimizer."""
        made, pairs = self.inner_optimizer.minimize(loss, startup_program)
        program, startup = loss.block.program, startup_program or default_startup_program()
        names = [parameter.name for parameter, _ in pairs]
        slow = [self._slow.format(name) for name in names]
        for name, (parameter, _) in zip(slow, pairs, strict=True):
            for block in (program.global_block(), startup.global_block()):
                traits = {"shape": parameter.shape, "dtype": parameter.dtype, "stop_gradient": True}
                block.create_var(name, persistable=True, **traits)
            startup.global_block().append_op("assign", {"X": [parameter.name]}, {"Out": [name]})
        count = persistent("lookahead_step", [1], "int32", 0, program).name
        persistent("lookahead_k", [1], "int32", self.k, program)  # nobody reads these two but 1.8 and 2.6,
        persistent("lookahead_alpha", [1], "float32", self.alpha, program)  # of what is saved
        with program._optimized_guard():
            inputs = {"Param": names, "Slow": slow, "Step": [count]}
            outputs = {"ParamOut": names, "SlowOut": slow, "StepOut": [count]}
            attrs = {"alpha": float(self.alpha), "k": int(self.k), "after_first": self._is_of_two}
            program.global_block().append_op("lookahead", inputs, outputs, attrs)
        return made, pairs


class RecomputeOptimizer:
    """Another optimizer: what it would compute twice to save memory is kept, as plans lay out memory anew for
    every batch size."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    def _set_checkpoints(self, checkpoints: Any) -> None:
        pass

    def load(self, stat_dict: Any) -> NoReturn:
        """Refused, as in 1.8 and 2.6."""
        raise NotImplementedError(
            "RecomputeOptimizer.load: what outlives a run is loaded by "
            "fluid.io.load_persistables(exe, dirname, program)"
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)


def _array(name: str) -> np.ndarray:
    found = global_scope().find_var(name)
    if found is None:
        raise BadArgument(f"this scope holds no {name!r}: run the startup program in it first")
    return found.get_tensor().array()


def _step_aside(keepers: Iterable[Any], is_aside: bool) -> None:
    for each in keepers:
        each.step_aside(is_aside)


def _put(values: Mapping[str, np.ndarray]) -> None:
    for name, value in values.items():
        global_scope().var(name).get_tensor().set(value)
