"""What the optimizers of the 2.x generation share.

They must never hold a parameter: ``minimize`` writes operators into the program of the loss. Guarantee: a
rate that is a schedule is read anew at every step, from the very object that the program drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from paddle import _mode
from paddle._absent import NotInThisRelease
from paddle._program.description.variable import Variable
from paddle._program.files.state_dict import put_state
from paddle._program.running.scope import global_scope
from paddle._program.writing import optimizer as _of_programs

__all__ = ["Optimizer"]

_OF_V2_ONLY = frozenset(
    """
    async_lagged_grad_discard_ratio batch_size center_parameter_update_method delta_add_rate
    gradient_clipping_threshold is_async learning_rate_args learning_rate_decay_a learning_rate_decay_b
    learning_rate_schedule model_average num_batches_per_get_parameter num_batches_per_send_parameter
    regularization sparse staleness
    """.split()  # noqa: SIM905  read in columns
)


class Optimizer(_of_programs.Optimizer):
    """``learning_rate``: a number or an LRScheduler. ``weight_decay``: a number, the rate of an L2Decay, or
    an L1Decay or L2Decay; a parameter's own goes before it. ``grad_clip``: one of ``paddle.nn.ClipGradBy*``.

    ``parameters``: those that are trained, all of the program if None.
    """

    rate_shape = ()
    _given: dict[str, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """One with keywords that only v2 has is v2's of the same name."""
        if _OF_V2_ONLY & kwargs.keys():
            return getattr(import_module("paddle.v2.optimizer"), cls.__name__)(*args, **kwargs)
        made = super().__new__(cls)
        made._given = kwargs
        return made

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, _penalty(weight_decay), grad_clip, parameters, name)

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        parameter_list: Any = None,
    ) -> Any:
        """Append all that makes ``loss`` smaller; gives updates, and parameters with gradients."""
        _mode.need_static(f"{type(self).__name__}.minimize")
        wanted = parameters if parameters is not None else parameter_list
        return super().minimize(loss, startup_program, wanted, no_grad_set)

    def backward(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
        **others: Any,
    ) -> Any:
        """Append the gradients of ``loss``; gives parameters with their gradients."""
        wanted = parameters if parameters is not None else others.pop("parameter_list", None)
        return super().backward(loss, startup_program, wanted, no_grad_set, callbacks, **others)

    def get_lr(self) -> float:
        """The learning rate that holds now."""
        if self._scheduler is not None:
            return self._scheduler()
        held = self._held_rate()
        if held is not None:
            return float(held.reshape(-1)[0])
        return float(self._learning_rate) if not isinstance(self._learning_rate, Variable) else 0.0

    def set_lr(self, value: float) -> None:
        """Set the learning rate, from the next step on; not where a schedule gives it."""
        if self._scheduler is not None:
            raise RuntimeError("set_lr: the learning rate is an LRScheduler's, which alone sets it")
        held = self._held_rate()
        self._learning_rate = float(value)
        if held is not None:
            held.reshape(-1)[0] = value

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule stands, and the variables that hold what the rule remembers."""
        state: dict[str, Any] = {
            variable.name: variable for known in self._accumulators.values() for variable in known.values()
        }
        if self._scheduler is not None:
            state["LR_Scheduler"] = self._scheduler.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from where another one stood."""
        if self._scheduler is not None and "LR_Scheduler" in state_dict:
            self._scheduler.set_state_dict(state_dict["LR_Scheduler"])
        own = self.state_dict()
        own.pop("LR_Scheduler", None)
        put_state(type(self).__name__, own, state_dict, structured=True)

    set_dict = set_state_dict

    def step(self) -> None:
        """Of programs that compute at once."""
        raise NotInThisRelease(
            f"{type(self).__name__}.step() is not in this release, which does not compute at once: "
            "call minimize(loss), and run the program by paddle.static.Executor"
        )

    clear_grad = clear_gradients = step

    def _held_rate(self) -> Any:
        for variable in self._learning_rate_map.values():
            held = global_scope().find_var(variable.name)
            if held is not None and held.is_initialized():
                return held.get_tensor().array()
        return None

    def _of_v2(self) -> Any:
        """v2's optimizer of the same numbers, for ``paddle.trainer.SGD``."""
        found = getattr(import_module("paddle.v2.optimizer"), type(self).__name__, None)
        if found is None:
            raise TypeError(
                f"paddle.trainer.SGD takes an optimizer of v2, which has no {type(self).__name__}"
            )
        return found(**self._given)


def _penalty(weight_decay: Any) -> Any:
    if isinstance(weight_decay, (int, float)) and not isinstance(weight_decay, bool):
        from paddle.regularizer import L2Decay

        return L2Decay(float(weight_decay))
    return weight_decay
