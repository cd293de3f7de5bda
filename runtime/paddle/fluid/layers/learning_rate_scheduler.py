"""Learning rates that follow a schedule, written into the program as operators over a counter of its steps.

It must never know an optimizer. Guarantee: a rate is what upstream's operators compute for a step, in single
precision; the counter outlives a run, so that what is saved with it goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.scheduling import COUNTER
from paddle.fluid._listed import of_layers

__all__ = [
    "autoincreased_step_counter",
    "cosine_decay",
    "exponential_decay",
    "inverse_time_decay",
    "linear_lr_warmup",
    "natural_exp_decay",
    "noam_decay",
    "piecewise_decay",
    "polynomial_decay",
]


def autoincreased_step_counter(counter_name: str | None = None, begin: int = 1, step: int = 1) -> Variable:
    """A counter (int64, shape [1]) that grows by ``step`` in every run, from 1 below ``begin`` on."""
    helper = LayerHelper("global_step_counter")
    name = counter_name or "@STEP_COUNTER@"
    block = helper.main_program.global_block()
    if block.has_var(name):
        return block.var(name)
    counter = _kept(helper, name, VarType.INT64, begin - 1)
    block._prepend_op("increment", {"X": [counter]}, {"Out": [counter]}, {"step": float(step)})
    counter.stop_gradient = True
    return counter


def noam_decay(
    d_model: float | Variable, warmup_steps: float | Variable, learning_rate: float | Variable = 1.0
) -> Variable:
    """It rises for ``warmup_steps`` and falls with the root of the step then (Attention is all you need)."""
    with default_main_program()._lr_schedule_guard():
        step = _step(1)
        rise = _times(step, _power(warmup_steps, -1.5))
        fall = _two("elementwise_pow", step, _constant(-0.5))
        least = _two("elementwise_min", fall, rise)
        return _times(_times(least, _power(d_model, -0.5)), learning_rate)


def exponential_decay(
    learning_rate: float | Variable, decay_steps: float | Variable, decay_rate: float, staircase: bool = False
) -> Variable:
    """``learning_rate * decay_rate ** (step / decay_steps)``."""
    with default_main_program()._lr_schedule_guard():
        power = _two("elementwise_pow", _constant(decay_rate), _periods(decay_steps, staircase))
        return _times(power, learning_rate)


def natural_exp_decay(
    learning_rate: float | Variable, decay_steps: float | Variable, decay_rate: float, staircase: bool = False
) -> Variable:
    """``learning_rate * exp(-decay_rate * step / decay_steps)``."""
    with default_main_program()._lr_schedule_guard():
        return _times(_one("exp", _scaled(_periods(decay_steps, staircase), -decay_rate)), learning_rate)


def inverse_time_decay(
    learning_rate: float | Variable, decay_steps: float | Variable, decay_rate: float, staircase: bool = False
) -> Variable:
    """``learning_rate / (1 + decay_rate * step / decay_steps)``."""
    with default_main_program()._lr_schedule_guard():
        divisor = _scaled(_periods(decay_steps, staircase), decay_rate, 1.0)
        return _two("elementwise_div", _variable(learning_rate), divisor)


def polynomial_decay(
    learning_rate: float | Variable,
    decay_steps: float | Variable,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
) -> Variable:
    """From ``learning_rate`` to ``end_learning_rate``, as a power of what is left of ``decay_steps``.

    ``cycle``: again and again, each time over as many more steps as have gone by.
    """
    with default_main_program()._lr_schedule_guard():
        step, total = _step(), _constant(decay_steps)
        if cycle:
            begun = _one("ceil", _two("elementwise_div", step, total))
            total = _two("elementwise_mul", total, _two("elementwise_max", begun, _constant(1.0)))
        else:
            step = _two("elementwise_min", step, total)
        left = _scaled(_two("elementwise_div", step, total), -1.0, 1.0)
        share = _two("elementwise_pow", left, _constant(power))
        if isinstance(learning_rate, Variable):
            span = _scaled(learning_rate, 1.0, -float(end_learning_rate))
            return _scaled(_two("elementwise_mul", share, span), 1.0, float(end_learning_rate))
        return _scaled(share, float(learning_rate) - end_learning_rate, float(end_learning_rate))


def piecewise_decay(boundaries: Sequence[float], values: Sequence[float]) -> Variable:
    """``values[i]`` while the step is below ``boundaries[i]``, and the last value from then on."""
    if isinstance(boundaries, Variable) or isinstance(values, Variable):
        raise BadArgument("piecewise_decay: boundaries and values are lists of numbers, not Variables")
    if len(values) - len(boundaries) != 1:
        raise BadArgument(
            f"piecewise_decay: {len(boundaries)} boundaries divide steps among {len(boundaries) + 1} values, "
            f"and {len(values)} are given"
        )
    if list(boundaries) != sorted(boundaries):
        raise BadArgument(f"piecewise_decay: boundaries are steps in order, and not {list(boundaries)}")
    with default_main_program()._lr_schedule_guard():
        step = _step()
        below = [_below(step, float(boundary)) for boundary in boundaries]
        terms = []
        for at, value in enumerate(values):
            until = below[at] if at < len(below) else _constant(1.0)
            share = until if at == 0 else _two("elementwise_sub", until, below[at - 1])
            terms.append(_scaled(share, float(value)))
        return _outlasting("learning_rate", _sum(terms))


def cosine_decay(learning_rate: float | Variable, step_each_epoch: float, epochs: float) -> Variable:
    """Half a cosine over ``epochs``, of which each has one rate."""
    with default_main_program()._lr_schedule_guard():
        epoch = _periods(step_each_epoch, True)
        wave = _one("cos", _scaled(epoch, math.pi / epochs))
        return _times(_scaled(wave, 0.5, 0.5), learning_rate)


def linear_lr_warmup(
    learning_rate: float | Variable, warmup_steps: int, start_lr: float, end_lr: float
) -> Variable:
    """From ``start_lr`` to ``end_lr`` in ``warmup_steps``, then ``learning_rate``: a number or a schedule."""
    with default_main_program()._lr_schedule_guard():
        step = _step()
        rising = _below(step, float(warmup_steps))
        slope = (float(end_lr) - float(start_lr)) / float(warmup_steps)
        first = _two("elementwise_mul", _scaled(step, slope, float(start_lr)), rising)
        after = _two("elementwise_mul", _variable(learning_rate), _scaled(rising, -1.0, 1.0))
        return _outlasting("learning_rate_warmup", _sum([first, after]))


def _step(begin: int = 0) -> Variable:
    counter = autoincreased_step_counter(COUNTER, begin, 1)
    attrs = {"in_dtype": int(VarType.INT64), "out_dtype": int(VarType.FP32)}
    return _made("cast", {"X": [counter]}, attrs)


_decay_step_counter = _step  # by which programs of image classification write schedules of their own


def _periods(steps: Any, whole: bool) -> Variable:
    """How many periods of so many steps have gone by."""
    share = _two("elementwise_div", _step(), _variable(steps))
    return _one("floor", share) if whole else share


def _below(step: Variable, boundary: float) -> Variable:
    """1.0 while the step is below it, then 0.0."""
    helper = LayerHelper("less_than")
    found = helper.create_variable_for_type_inference(VarType.BOOL, stop_gradient=True)
    helper.append_op("less_than", inputs={"X": [step], "Y": [_constant(boundary)]}, outputs={"Out": [found]})
    attrs = {"in_dtype": int(VarType.BOOL), "out_dtype": int(VarType.FP32)}
    return _made("cast", {"X": [found]}, attrs)


def _power(value: Any, power: float) -> Any:
    if isinstance(value, Variable):
        return _two("elementwise_pow", value, _constant(power))
    return float(value) ** power


def _times(value: Variable, factor: Any) -> Variable:
    if isinstance(factor, Variable):
        return _two("elementwise_mul", value, factor)
    return _scaled(value, float(factor))


def _scaled(value: Variable, scale: float, bias: float = 0.0) -> Variable:
    return _made("scale", {"X": [value]}, {"scale": float(scale), "bias": float(bias)})


def _one(type: str, value: Variable) -> Variable:
    return _made(type, {"X": [value]}, {})


def _two(type: str, one: Variable, other: Variable) -> Variable:
    return _made(type, {"X": [one], "Y": [other]}, {})


def _sum(terms: Sequence[Variable]) -> Variable:
    return _made("sum", {"X": list(terms)}, {})


def _variable(value: Any) -> Variable:
    return value if isinstance(value, Variable) else _constant(value)


def _constant(value: Any) -> Variable:
    attrs = {"shape": [1], "value": float(value), "dtype": int(VarType.FP32)}
    return _made("fill_constant", {}, attrs)


def _made(type: str, inputs: dict[str, list[Variable]], attrs: dict[str, Any]) -> Variable:
    helper = LayerHelper(type)
    made: Variable = helper.create_variable_for_type_inference(VarType.FP32, stop_gradient=True)
    helper.append_op(type, inputs=inputs, outputs={"Out": [made]}, attrs=attrs)
    return made


def _outlasting(name: str, value: Variable) -> Variable:
    """A variable of that name, which outlives a run, made what ``value`` is."""
    helper = LayerHelper(name)
    kept = _kept(helper, name, VarType.FP32, 0.0)
    helper.append_op("assign", inputs={"X": [value]}, outputs={"Out": [kept]})
    return kept


def _kept(helper: LayerHelper, name: str, dtype: VarType, first: float) -> Variable:
    traits: dict[str, Any] = {"shape": [1], "dtype": dtype, "persistable": True}
    made = helper.main_program.global_block().create_var(name=name, **traits)
    begun = helper.startup_program.global_block()
    if not begun.has_var(name):
        Constant(float(first))(begun.create_var(name=name, **traits), begun)
    return made


__getattr__ = of_layers(__name__)
