"""Optimizers with a decay of weights that is none of their gradients: AdamW of Adam, and so for each.

They must never know how the optimizer moves a parameter. Guarantee: a step first takes the share
``weight_decay`` from a parameter, whatever the learning rate, and then moves what is left; its gradient is of
the value before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from paddle._program.description.guards import name_scope
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid import layers

__all__ = ["DecoupledWeightDecay", "extend_with_decoupled_weight_decay"]


class DecoupledWeightDecay:
    """What ``extend_with_decoupled_weight_decay`` adds to an optimizer, before which it stands.

    ``coeff``: the share, a number or a Variable. ``apply_decay_param_fun``: says of a name whether the
    parameter decays; all do if None.
    """

    def __init__(
        self, coeff: Any = 0.0, apply_decay_param_fun: Callable[[str], bool] | None = None, **options: Any
    ) -> None:
        if not isinstance(coeff, float | Variable):
            raise BadArgument(f"weight_decay is a number with a fraction, or a Variable, and not {coeff!r}")
        self._coeff, self._apply_decay_param_fun = coeff, apply_decay_param_fun
        self._params_name: set[str] = set()
        super().__init__(**options)

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Sequence[Any] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[Any]]:
        """Append all that makes ``loss`` smaller, behind the decay; gives updates, and gradients."""
        optimizer: Any = self
        pairs = optimizer.backward(loss, startup_program, parameter_list, no_grad_set)
        if self._coeff != 0.0 or isinstance(self._coeff, Variable):
            for parameter, gradient in pairs:
                self._decay(parameter, gradient)
        return optimizer.apply_optimize(loss, startup_program, pairs), pairs

    def _decay(self, parameter: Any, gradient: Any) -> None:
        applies = self._apply_decay_param_fun
        if gradient is None or not (applies is None or applies(parameter.name)):
            return
        with parameter.block.program._optimized_guard([parameter, gradient]), name_scope("weight decay"):
            left = layers.elementwise_sub(x=parameter, y=parameter * self._coeff)
            layers.assign(input=left, output=parameter)
        self._params_name.add(parameter.name)

    def __str__(self) -> str:
        return f"Weight Decay, params: {','.join(sorted(self._params_name))}"


def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """A class of optimizers like ``base_optimizer``, to be made with ``weight_decay`` (see
    DecoupledWeightDecay) and with what ``base_optimizer`` takes, all of it by name."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecay, base_optimizer):
        """See the module's text."""

        def __init__(
            self,
            weight_decay: Any,
            apply_decay_param_fun: Callable[[str], bool] | None = None,
            **options: Any,
        ) -> None:
            super().__init__(weight_decay, apply_decay_param_fun, **options)

    return OptimizerWithDecoupledWeightDecay


extend_optimizer_with_weight_decay = sys.modules[f"{__name__}.extend_optimizer_with_weight_decay"] = (
    sys.modules[__name__]
)
"""As a package of upstream's it has one module."""
