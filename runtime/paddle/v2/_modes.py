"""Modes as v2 programs ask for them: options of an optimizer, and what they come to.

It must never know a parameter server. Guarantee: what cannot be is refused by the name that was written.
"""

from __future__ import annotations

from paddle._absent import NotInThisRelease
from paddle._engine.exchange import ModeSpec
from paddle.v2._errors import WrongCall
from paddle.v2._numbers import check_number

_METHODS = ("average", "elastic_average")


def mode(
    is_async: bool,
    async_lagged_grad_discard_ratio: float,
    staleness: int | None,
    num_batches_per_send_parameter: int | None,
    num_batches_per_get_parameter: int | None,
    center_parameter_update_method: str | None,
    delta_add_rate: float,
) -> ModeSpec:
    """The mode; see :class:`paddle.v2.optimizer.Optimizer`."""
    check_number("async_lagged_grad_discard_ratio", async_lagged_grad_discard_ratio)
    check_number("delta_add_rate", delta_add_rate)
    k_steps = _count("num_batches_per_send_parameter", num_batches_per_send_parameter)
    gets = _count("num_batches_per_get_parameter", num_batches_per_get_parameter)
    method = center_parameter_update_method or "average"
    if method not in _METHODS:
        raise WrongCall(f"center_parameter_update_method is {' or '.join(_METHODS)}, not {method!r}")
    if gets not in (1, k_steps):
        raise NotInThisRelease(
            f"num_batches_per_get_parameter={gets} is not in this release: parameters are got whenever they "
            f"are sent. Leave it out, or give 1 or num_batches_per_send_parameter, which is {k_steps}"
        )
    if k_steps > 1:
        return _meeting(method, k_steps, float(delta_add_rate), bool(is_async), staleness)
    if staleness is not None:
        return ModeSpec(name="ssp", staleness=_bound(staleness))
    if is_async:
        return ModeSpec(name="async", discard_ratio=float(async_lagged_grad_discard_ratio))
    return ModeSpec()


def _meeting(method: str, k_steps: int, rate: float, is_async: bool, staleness: int | None) -> ModeSpec:
    if staleness is not None:
        raise WrongCall("staleness and num_batches_per_send_parameter do not go together")
    if rate <= 0:
        raise WrongCall(f"delta_add_rate is above 0, not {rate!r}")
    return ModeSpec(
        name="average" if method == "average" else "elastic_average",
        k_steps=k_steps,
        delta_add_rate=rate,
        is_async=is_async,
    )


def _count(name: str, value: int | None) -> int:
    if value is None:
        return 1
    check_number(name, value)
    if value != int(value) or value < 1:
        raise WrongCall(f"{name} is a whole number, 1 or more, not {value!r}")
    return int(value)


def _bound(staleness: int) -> int:
    check_number("staleness", staleness)
    if staleness != int(staleness) or staleness < 0:
        raise WrongCall(f"staleness is a whole number, 0 or more, not {staleness!r}")
    return int(staleness)
