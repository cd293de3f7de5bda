"""Optimizers: how gradients, summed over a batch and over trainers, become parameters.

They must never hold a parameter: an optimizer is numbers, carried to wherever the parameters live. Guarantee:
an option that this release cannot honour is an error when the optimizer is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._engine.exchange import AverageSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rules import rule
from paddle._engine.schedules import schedule
from paddle.v2._errors import WrongCall
from paddle.v2._modes import mode
from paddle.v2._numbers import check_bound, check_number, check_share

__all__ = [
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Adamax",
    "DecayedAdaGrad",
    "L2Regularization",
    "ModelAverage",
    "Momentum",
    "Optimizer",
    "RMSProp",
]


class L2Regularization:
    """Adds ``rate`` times a parameter to its gradient; a parameter's own ``l2_rate`` replaces it."""

    def __init__(self, rate: float) -> None:
        check_number("the rate of L2Regularization", rate)
        self.rate = float(rate)


class ModelAverage:
    """What ``save_parameter_to_tar`` writes are parameters averaged over the last steps.

    Over as many steps as ``average_window`` times all steps so far, but at least 10,000 and no more than
    ``max_average_window``, and up to twice these. ``do_average_in_cpu`` has no effect: everything is.
    """

    def __init__(
        self, average_window: float, max_average_window: int | None = None, do_average_in_cpu: bool = False
    ) -> None:
        check_number("average_window of ModelAverage", average_window)
        check_bound("max_average_window of ModelAverage", max_average_window)
        longest = _NO_LIMIT if max_average_window is None else int(max_average_window)
        shortest = min(_MIN_AVERAGE_WINDOW, longest)
        spec = AverageSpec(window=float(average_window), min_window=shortest, max_window=longest)
        self.spec = spec if average_window > 0 else None  # a window of 0 averages nothing, as in the original


_MIN_AVERAGE_WINDOW, _NO_LIMIT = 10_000, 1 << 62


class Optimizer:
    """What all optimizers share.

    ``learning_rate`` is per sample of a sum: a batch's gradient is the sum over its samples, over all
    trainers. ``learning_rate_schedule``: constant, poly, caffe_poly, exp, discexp, linear, manual or
    pass_manual, by samples processed, with ``learning_rate_decay_a``, ``_b`` and ``learning_rate_args``.
    ``regularization``: an L2Regularization. ``gradient_clipping_threshold``: bounds each element.
    ``model_average``: a ModelAverage. ``is_async``: with parameter servers, do not wait for the other
    trainers; a gradient that is ``async_lagged_grad_discard_ratio`` times their number commits late is
    discarded. ``batch_size`` is accepted and has no effect, as in the original.

    With ``staleness``, which the original did not have, a trainer is at most so many batches ahead of the
    slowest. With ``num_batches_per_send_parameter`` above 1 each trainer trains by itself, and every so many
    batches the trainers meet as ``center_parameter_update_method`` says, "average" or "elastic_average", to
    the share ``delta_add_rate``, and wait for each other unless ``is_async``; a schedule goes by the samples
    of each trainer then. docs/modes.md says what each mode guarantees.
    """

    def __init__(
        self,
        rule_spec: RuleSpec,
        *,
        learning_rate: float = 1e-3,
        learning_rate_decay_a: float = 0.0,
        learning_rate_decay_b: float = 0.0,
        learning_rate_schedule: str = "poly",
        learning_rate_args: str = "",
        regularization: L2Regularization | Sequence[L2Regularization] | None = None,
        is_async: bool = False,
        async_lagged_grad_discard_ratio: float = 1.5,
        staleness: int | None = None,
        num_batches_per_send_parameter: int | None = None,
        num_batches_per_get_parameter: int | None = None,
        center_parameter_update_method: str | None = None,
        delta_add_rate: float = 1.0,
        model_average: ModelAverage | None = None,
        gradient_clipping_threshold: float | None = None,
        batch_size: int | None = None,
    ) -> None:
        if model_average is not None and not isinstance(model_average, ModelAverage):
            raise WrongCall(f"model_average is a paddle.optimizer.ModelAverage, not {model_average!r}")
        check_number("learning_rate", learning_rate)
        check_number("learning_rate_decay_a", learning_rate_decay_a)
        check_number("learning_rate_decay_b", learning_rate_decay_b)
        check_bound("gradient_clipping_threshold", gradient_clipping_threshold)
        self.update = UpdateSpec(
            rule=rule_spec,
            schedule=ScheduleSpec(
                name=learning_rate_schedule or "constant",
                learning_rate=float(learning_rate),
                decay_a=float(learning_rate_decay_a),
                decay_b=float(learning_rate_decay_b),
                args=learning_rate_args,
            ),
            l2_rate=_l2_rate(regularization),
            gradient_clipping_threshold=float(gradient_clipping_threshold or 0.0),
            mode=mode(
                is_async,
                async_lagged_grad_discard_ratio,
                staleness,
                num_batches_per_send_parameter,
                num_batches_per_get_parameter,
                center_parameter_update_method,
                delta_add_rate,
            ),
            average=None if model_average is None else model_average.spec,
        )
        rule(rule_spec), schedule(self.update.schedule)  # names and numbers that cannot be are errors here


def _l2_rate(regularization: L2Regularization | Sequence[L2Regularization] | None) -> float:
    if regularization is None:
        return 0.0
    listed = regularization if isinstance(regularization, Sequence) else [regularization]
    if len(listed) != 1 or not isinstance(listed[0], L2Regularization):
        raise WrongCall(f"regularization is one paddle.optimizer.L2Regularization, not {regularization!r}")
    return listed[0].rate


class Momentum(Optimizer):
    """v = momentum * v - rate * (g + decay * w); w = w + v. Without momentum, plain gradient descent.

    ``sparse``: rows of a ``sparse_update`` parameter that batches pass by keep rolling on.
    """

    def __init__(self, momentum: float | None = None, sparse: bool = False, **kwargs: Any) -> None:
        super().__init__(_rule("momentum", momentum=momentum or 0.0, sparse=sparse), **kwargs)


class Adam(Optimizer):
    """Moves by the mean of recent gradients over the root of the mean of their squares."""

    def __init__(
        self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any
    ) -> None:
        super().__init__(_rule("adam", beta1=beta1, beta2=beta2, epsilon=epsilon), **kwargs)


class Adamax(Optimizer):
    """Moves by the mean of recent gradients over the largest of them."""

    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, **kwargs: Any) -> None:
        super().__init__(_rule("adamax", beta1=beta1, beta2=beta2), **kwargs)


class AdaGrad(Optimizer):
    """A rate per element that falls with the squares of all its gradients."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(_rule("adagrad"), **kwargs)


class DecayedAdaGrad(Optimizer):
    """A rate per element that follows the squares of its recent gradients."""

    def __init__(self, rho: float = 0.95, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(_rule("decayed_adagrad", rho=rho, epsilon=epsilon), **kwargs)


class AdaDelta(Optimizer):
    """A rate per element in the ratio of its recent moves to its recent gradients."""

    def __init__(self, rho: float = 0.95, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(_rule("adadelta", rho=rho, epsilon=epsilon), **kwargs)


class RMSProp(Optimizer):
    """A rate per element that follows the spread of its recent gradients."""

    def __init__(self, rho: float = 0.95, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(_rule("rmsprop", rho=rho, epsilon=epsilon), **kwargs)


_SHARES = frozenset({"momentum", "beta1", "beta2", "rho"})


def _rule(name: str, **options: float) -> RuleSpec:
    for option, value in options.items():
        if option in _SHARES:
            check_share(option, value)
    return RuleSpec(name=name, options={option: float(value) for option, value in options.items()})
