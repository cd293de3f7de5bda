"""What walks a cell along a padded batch.

It must never know what a cell computes. Guarantee: a step beyond the length of its sequence changes no state;
what is given there is what the cell gives, as in 1.8.5.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.arithmetic import cumsum, elementwise_add, elementwise_mul, scale
from paddle.fluid.layers.comparing import less_than
from paddle.fluid.layers.shaping import reshape, slice, transpose
from paddle.fluid.layers.steps import StaticRNN
from paddle.fluid.layers.tensor import cast, ones_like
from paddle.fluid.layers.utils import assert_same_structure, flatten, map_structure, pack_sequence_as

__all__ = ["rnn"]


def rnn(
    cell: Any,
    inputs: Any,
    initial_states: Any = None,
    sequence_length: Variable | None = None,
    time_major: bool = False,
    is_reverse: bool = False,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """All outputs of a cell, (n, time, ...), and its states after the last step.

    ``inputs``: one (n, time, ...) or several, nested; (time, n, ...) where ``time_major``, and so are the
    outputs. ``initial_states``: the cell's, of zeros if None. ``sequence_length``: how many steps of each row
    count. ``is_reverse``: the last step comes first. Others are the cell's.
    """
    if initial_states is None:
        initial_states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=1 if time_major else 0)
    for each in flatten(initial_states):
        each.stop_gradient = False
    steps = inputs if time_major else map_structure(turned, inputs)
    counts = None if sequence_length is None else counting(flatten(steps)[0], sequence_length)
    walk = StaticRNN()
    walk.is_reverse = is_reverse
    with walk.step():
        before = map_structure(lambda each: walk.memory(init=each), initial_states)
        given = map_structure(walk.step_input, steps)
        outputs, after = cell.call(given, map_structure(lambda each: each, before), **kwargs)
        assert_same_structure(before, after)
        if counts is not None:
            there = walk.step_input(counts)
            after = map_structure(lambda old, new: held(old, new, there), before, after)
        map_structure(walk.update_memory, before, after)
        walk.output(*flatten(outputs), *flatten(after))
    found = walk()
    found = found if isinstance(found, list) else [found]
    rows, states = found[: len(flatten(outputs))], found[len(flatten(outputs)) :]
    last = 0 if is_reverse else -1
    rows = rows if time_major else [turned(each) for each in rows]
    return pack_sequence_as(outputs, rows), pack_sequence_as(after, [each[last] for each in states])


def turned(x: Variable) -> Variable:
    """The first two axes in each other's place."""
    return transpose(x, [1, 0, *range(2, len(x.shape))])


def counting(steps: Variable, lengths: Variable) -> Variable:
    """(time, n): 1 where a step of (time, n, ...) counts, 0 beyond the length of its row."""
    others = list(range(2, len(steps.shape)))
    one = slice(steps, others, [0] * len(others), [1] * len(others)) if others else steps
    ones = cast(ones_like(reshape(one, [0, 0]) if others else one), "float32")
    before = scale(cumsum(ones, axis=0), bias=-1.0)
    found = cast(less_than(before, cast(reshape(lengths, [1, -1]), "float32")), "float32")
    found.stop_gradient = True
    return found


def held(old: Variable, new: Variable, there: Variable) -> Variable:
    """Of each row the new where it is there, and the old where it is not."""
    kept = elementwise_mul(old, scale(there, -1.0, 1.0), axis=0)
    return elementwise_add(elementwise_mul(new, there, axis=0), kept)


__getattr__ = of_layers(__name__)
