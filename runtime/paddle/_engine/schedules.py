"""Learning rates as functions of what was done so far.

``schedule(spec)`` is the only door. A schedule is a pure function: it must never know a clock or
remember a call.

Semantics. lr is ``learning_rate``. n counts, in the schedule's own unit unless the spec names another:
samples processed by all trainers, those of the present batch included; passes finished; or steps taken before
this one.

By samples (PaddlePaddle v2; a and b are ``decay_a`` and ``decay_b``):

    poly         lr * (1 + a * n) ** -b
    caffe_poly   lr * (1 - n / a) ** b while n <= a, then 0
    exp          lr * a ** (n / b)
    discexp      lr * a ** floor(n / b)
    linear       max(lr - a * n, b)
    manual       lr * rate_i of the first segment with n <= num_i, after the last one its rate for ever;
                 args = "num_0:rate_0,num_1:rate_1,..."
    pass_manual  manual, by passes

By steps (PaddlePaddle fluid, and what the classes of 2.x reduce to; the numbers are ``options``). x is
n / decay_steps, with ``staircase`` its floor; with ``pushes`` each step counts for so many:

    constant            lr
    noam_decay          lr * d_model ** -0.5 * min((n + 1) ** -0.5, (n + 1) * warmup_steps ** -1.5)
    exponential_decay   lr * decay_rate ** x
    natural_exp_decay   lr * e ** (-decay_rate * x)
    inverse_time_decay  lr / (1 + decay_rate * x)
    polynomial_decay    (lr - end) * (1 - min(x, 1)) ** power + end, where end is end_learning_rate; with
                        ``cycle``, x / ceil(x) in place of min(x, 1)
    piecewise_decay     values[i] of the first i with n < boundaries[i], after the last one values[-1]
    cosine_decay        end + (lr - end) * (1 + cos(pi * floor(n / step_each_epoch) / epochs)) / 2

A warm-up goes before any of them (see ``WarmupSpec``), in the same unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from paddle._engine.errors import UnknownName
from paddle._engine.exchange import ScheduleSpec, WarmupSpec

Schedule = Callable[[int, int, int], float]
"""What gives the learning rate of a step by how far a job is: samples with those of this step, passes
finished, steps before this one."""

Course = Callable[[float], float]
"""A learning rate by a count in one unit."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One schedule. ``options``: their values where not given, None where they must be."""

    unit: Literal["samples", "steps", "passes"]
    make: Callable[[ScheduleSpec, dict[str, Any]], Course]
    options: Mapping[str, float | None] = field(default_factory=dict)


def schedule(spec: ScheduleSpec) -> Schedule:
    """The schedule that ``spec`` names.

    Raises ``UnknownName`` for a name that does not exist, ``ValueError`` for numbers that cannot work.
    """
    kind = SCHEDULES.get(spec.name)
    if kind is None:
        names = ", ".join(SCHEDULES)
        raise UnknownName(f"there is no learning_rate_schedule {spec.name!r}; there are {names}")
    course = kind.make(spec, _options(spec, kind))
    if spec.warmup is not None:
        course = _warmed_up(spec.warmup, course)
    unit = spec.unit or kind.unit
    if unit == "samples":
        return lambda samples, passes, steps: course(samples)
    if unit == "passes":
        return lambda samples, passes, steps: course(passes)
    return lambda samples, passes, steps: course(steps)


def _options(spec: ScheduleSpec, kind: Kind) -> dict[str, Any]:
    if unknown := sorted(set(spec.options) - set(kind.options)):
        names = ", ".join(kind.options) or "none"
        raise UnknownName(
            f"learning_rate_schedule {spec.name!r} has no option {unknown[0]!r}; it has {names}"
        )
    options = {**kind.options, **spec.options}
    if missing := [name for name, value in options.items() if value is None]:
        raise ValueError(f"learning_rate_schedule {spec.name!r} needs {', '.join(missing)}")
    return options


def _warmed_up(warmup: WarmupSpec, course: Course) -> Course:
    if not warmup.length > 0:
        raise ValueError(f"a warm-up lasts longer than 0, not {warmup.length}")
    slope, after = (warmup.end - warmup.start) / warmup.length, warmup.length if warmup.shifts else 0
    return lambda n: warmup.start + slope * n if n < warmup.length else course(n - after)


def _constant(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    return lambda n: spec.learning_rate


def _poly(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    return lambda n: spec.learning_rate * (1.0 + spec.decay_a * n) ** -spec.decay_b


def _caffe_poly(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    last = _divisor(spec, "learning_rate_decay_a", spec.decay_a)
    return lambda n: spec.learning_rate * (1.0 - n / last) ** spec.decay_b if n <= last else 0.0


def _exp(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    interval = _divisor(spec, "learning_rate_decay_b", spec.decay_b)
    return lambda n: spec.learning_rate * spec.decay_a ** (n / interval)


def _discexp(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    interval = _divisor(spec, "learning_rate_decay_b", spec.decay_b)
    return lambda n: spec.learning_rate * spec.decay_a ** (n // interval)


def _linear(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    return lambda n: max(spec.learning_rate - spec.decay_a * n, spec.decay_b)


def _manual(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    segments = _segments(spec)
    last = segments[-1][1]
    return lambda n: spec.learning_rate * next((rate for num, rate in segments if n <= num), last)


def _noam(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    scale = spec.learning_rate * _divisor(spec, "d_model", options["d_model"]) ** -0.5
    rise = _divisor(spec, "warmup_steps", options["warmup_steps"]) ** -1.5
    pushes = options["pushes"]
    return lambda n: scale * min((pushes * n + 1) ** -0.5, (pushes * n + 1) * rise)


def _exponential(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    x = _intervals(spec, options)
    return lambda n: spec.learning_rate * options["decay_rate"] ** x(n)


def _natural_exp(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    x = _intervals(spec, options)
    return lambda n: spec.learning_rate * math.exp(-options["decay_rate"] * x(n))


def _inverse_time(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    x = _intervals(spec, options)
    return lambda n: spec.learning_rate / (1 + options["decay_rate"] * x(n))


def _polynomial(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    steps = _divisor(spec, "decay_steps", options["decay_steps"])
    end, power = options["end_learning_rate"], options["power"]

    def course(n: float) -> float:
        x = n / steps
        done = x / max(math.ceil(x), 1) if options["cycle"] else min(x, 1.0)
        return float((spec.learning_rate - end) * (1 - done) ** power + end)

    return course


def _piecewise(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    boundaries, values = options["boundaries"], options["values"]
    ascending = all(left < right for left, right in pairwise(boundaries))
    if len(values) != len(boundaries) + 1 or not ascending:
        raise ValueError(
            f"learning_rate_schedule {spec.name!r} needs ascending boundaries and one value more than these, "
            f"not {list(boundaries)} and {list(values)}"
        )
    return lambda n: next((v for end, v in zip(boundaries, values, strict=False) if n < end), values[-1])


def _cosine(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    interval = _divisor(spec, "step_each_epoch", options["step_each_epoch"])
    epochs, end = _divisor(spec, "epochs", options["epochs"]), options["end_learning_rate"]
    half = (spec.learning_rate - end) / 2
    return lambda n: float(end + half * (1 + math.cos(math.pi * (n // interval) / epochs)))


def _intervals(spec: ScheduleSpec, options: dict[str, Any]) -> Course:
    steps, pushes = _divisor(spec, "decay_steps", options["decay_steps"]), options["pushes"]
    return (lambda n: n * pushes // steps) if options["staircase"] else (lambda n: n * pushes / steps)


def _divisor(spec: ScheduleSpec, name: str, value: float) -> float:
    if not value > 0:
        raise ValueError(
            f"learning_rate_schedule {spec.name!r} divides by {name}, which must be above 0 and is {value}"
        )
    return value


def _segments(spec: ScheduleSpec) -> list[tuple[int, float]]:
    """``"num:rate,num:rate"`` as pairs, nums ascending."""
    try:
        pairs = [piece.split(":") for piece in spec.args.split(",")]
        segments = [(int(num), float(rate)) for num, rate in pairs]
    except ValueError:
        segments = []
    if not segments or any(left[0] >= right[0] for left, right in pairwise(segments)):
        raise ValueError(
            f"learning_rate_schedule {spec.name!r} needs learning_rate_args='num:rate,num:rate,...' with "
            f"whole, ascending nums, and got {spec.args!r}"
        )
    return segments


_DECAY = {"decay_steps": None, "decay_rate": None, "staircase": 0.0, "pushes": 1.0}

SCHEDULES: dict[str, Kind] = {
    "constant": Kind("steps", _constant),
    "poly": Kind("samples", _poly),
    "caffe_poly": Kind("samples", _caffe_poly),
    "exp": Kind("samples", _exp),
    "discexp": Kind("samples", _discexp),
    "linear": Kind("samples", _linear),
    "manual": Kind("samples", _manual),
    "pass_manual": Kind("passes", _manual),
    "noam_decay": Kind("steps", _noam, {"d_model": None, "warmup_steps": None, "pushes": 1.0}),
    "exponential_decay": Kind("steps", _exponential, _DECAY),
    "natural_exp_decay": Kind("steps", _natural_exp, _DECAY),
    "inverse_time_decay": Kind("steps", _inverse_time, _DECAY),
    "polynomial_decay": Kind(
        "steps", _polynomial, {"decay_steps": None, "end_learning_rate": 1e-4, "power": 1.0, "cycle": 0.0}
    ),
    "piecewise_decay": Kind("steps", _piecewise, {"boundaries": None, "values": None}),
    "cosine_decay": Kind(
        "steps", _cosine, {"step_each_epoch": 1.0, "epochs": None, "end_learning_rate": 0.0}
    ),
}
