"""A cell along an axis of time of any size: written once, run for each step that is fed.

It must never know what a cell computes. Guarantee: values and gradients are those of as many copies of the
cell; a step beyond the length of its sequence changes no state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle.fluid.layers.steps import StaticRNN
from paddle.tensor.creation import full_like
from paddle.tensor.logic import less_than
from paddle.tensor.manipulation import cast, reshape, transpose
from paddle.tensor.math import cumsum, scale

__all__ = ["Walk"]


class Walk:
    """``batch`` is (n, time, size); ``lengths``: how many steps of each row count, None for all."""

    def __init__(self, batch: Any, lengths: Any, is_reverse: bool) -> None:
        self._steps = [transpose(batch, [1, 0, 2])]
        self._is_reverse = is_reverse
        if lengths is not None:
            before = scale(cumsum(full_like(self._steps[0][:, :, :1], 1.0), axis=0), 1.0, -1.0)
            ends = cast(reshape(lengths, [1, -1, 1]), "float32")
            self._steps.append(cast(less_than(before, ends), "float32"))

    def along(self, cell: Callable[[Any, Any], tuple[Any, Any]], states: Any, zeros: bool) -> tuple[Any, Any]:
        """All outputs, (n, time, size), and the states after the last step. ``cell``: (step, states) to
        (output, states). ``zeros``: whether steps beyond the length of a row give zeros."""
        recurrence = StaticRNN()
        recurrence.is_reverse = self._is_reverse
        first = list(states) if isinstance(states, (list, tuple)) else [states]
        with recurrence.step():
            step, *there = [recurrence.step_input(each) for each in self._steps]
            memories = [recurrence.memory(init=each) for each in first]
            output, after = cell(step, _like(states, memories))
            following = list(after) if isinstance(after, (list, tuple)) else [after]
            if there:
                output = output * there[0] if zeros else output
                pairs = zip(following, memories, strict=True)
                following = [(new - old) * there[0] + old for new, old in pairs]
            for old, new in zip(memories, following, strict=True):
                recurrence.update_memory(old, new)
            recurrence.output(output, *following)
        outputs, *held = recurrence()
        last = 0 if self._is_reverse else -1
        return transpose(outputs, [1, 0, 2]), _like(states, [each[last] for each in held])


def _like(states: Any, found: list[Any]) -> Any:
    """One, or several as they were given."""
    return type(states)(found) if isinstance(states, (list, tuple)) else found[0]
