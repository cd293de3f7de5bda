"""Learning rates as functions of the samples processed.

``schedule(spec)`` is the only door. A schedule is a pure function: it must never know a clock or
remember a call.

Semantics (PaddlePaddle v2). lr is ``learning_rate``, a and b are ``decay_a`` and ``decay_b``; n counts
the samples processed by all trainers, those of the present batch included; p counts finished passes:

    constant     lr
    poly         lr * (1 + a * n) ** -b
    caffe_poly   lr * (1 - n / a) ** b while n <= a, then 0
    exp          lr * a ** (n / b)
    discexp      lr * a ** floor(n / b)
    linear       max(lr - a * n, b)
    manual       lr * rate_i of the first segment with n <= num_i, after the last one its rate for ever;
                 args = "num_0:rate_0,num_1:rate_1,..."
    pass_manual  manual with p in place of n
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from paddle._engine.errors import UnknownName
from paddle._engine.exchange import ScheduleSpec

Schedule = Callable[[int, int], float]
"""(samples processed, passes finished) -> this step's learning rate."""


def schedule(spec: ScheduleSpec) -> Schedule:
    """The schedule that ``spec`` names.

    Raises ``UnknownName`` for a name that does not exist, ``ValueError`` for numbers that cannot work.
    """
    make = SCHEDULES.get(spec.name)
    if make is None:
        names = ", ".join(SCHEDULES)
        raise UnknownName(f"there is no learning_rate_schedule {spec.name!r}; there are {names}")
    return make(spec)


def _constant(spec: ScheduleSpec) -> Schedule:
    return lambda samples, passes: spec.learning_rate


def _poly(spec: ScheduleSpec) -> Schedule:
    return lambda samples, passes: spec.learning_rate * (1.0 + spec.decay_a * samples) ** -spec.decay_b


def _caffe_poly(spec: ScheduleSpec) -> Schedule:
    last = _positive(spec, "a", spec.decay_a)
    return lambda samples, passes: (
        spec.learning_rate * (1.0 - samples / last) ** spec.decay_b if samples <= last else 0.0
    )


def _exp(spec: ScheduleSpec) -> Schedule:
    interval = _positive(spec, "b", spec.decay_b)
    return lambda samples, passes: spec.learning_rate * spec.decay_a ** (samples / interval)


def _discexp(spec: ScheduleSpec) -> Schedule:
    interval = _positive(spec, "b", spec.decay_b)
    return lambda samples, passes: spec.learning_rate * spec.decay_a ** (samples // interval)


def _linear(spec: ScheduleSpec) -> Schedule:
    return lambda samples, passes: max(spec.learning_rate - spec.decay_a * samples, spec.decay_b)


def _manual(spec: ScheduleSpec) -> Schedule:
    segments = _segments(spec)
    return lambda samples, passes: spec.learning_rate * _rate_at(segments, samples)


def _pass_manual(spec: ScheduleSpec) -> Schedule:
    segments = _segments(spec)
    return lambda samples, passes: spec.learning_rate * _rate_at(segments, passes)


def _positive(spec: ScheduleSpec, letter: str, value: float) -> float:
    if not value > 0:
        raise ValueError(
            f"learning_rate_schedule {spec.name!r} divides samples by learning_rate_decay_{letter}, "
            f"which must be above 0 and is {value}"
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


def _rate_at(segments: list[tuple[int, float]], count: int) -> float:
    return next((rate for num, rate in segments if count <= num), segments[-1][1])


SCHEDULES: dict[str, Callable[[ScheduleSpec], Schedule]] = {
    "constant": _constant,
    "poly": _poly,
    "caffe_poly": _caffe_poly,
    "exp": _exp,
    "discexp": _discexp,
    "linear": _linear,
    "manual": _manual,
    "pass_manual": _pass_manual,
}
