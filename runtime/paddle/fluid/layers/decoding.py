"""What makes sentences step by step: a decoder says one step, ``dynamic_decode`` goes on until all end.

It must never know how a step is chosen. Guarantee: gradients go back through all steps that were taken.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.writing.branching import While
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.arithmetic import elementwise_add, logical_and, logical_not, logical_or, reduce_all
from paddle.fluid.layers.comparing import increment, less_equal
from paddle.fluid.layers.control_flow import array_write, tensor_array_to_tensor
from paddle.fluid.layers.rnn import held, turned
from paddle.fluid.layers.tensor import assign, cast, fill_constant, zeros_like
from paddle.fluid.layers.utils import map_structure

__all__ = ["BasicDecoder", "Decoder", "dynamic_decode"]


class Decoder:
    """What decoders derive from. One whose rows change places ``tracks_own_finished``: which of them have
    ended it says anew at each step, and how long they are its states' ``lengths`` say."""

    tracks_own_finished = False

    def initialize(self, inits: Any) -> Any:
        """The first inputs, the first states, and which sentences have ended already, a bool for each."""
        raise NotImplementedError(f"{type(self).__name__} does not define initialize(inits)")

    def step(self, time: Variable, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """What a step gives, the next states, the next inputs, and which sentences have ended."""
        raise NotImplementedError(f"{type(self).__name__} does not define step(time, inputs, states)")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Variable) -> Any:
        """What all steps have given, (time, n, ...), and the last states, as they are wanted in the end."""
        raise NotImplementedError(f"{type(self).__name__} does not define finalize(outputs, ...)")


class BasicDecoder(Decoder):
    """A cell, and a helper that says what word a step gives and what the next one reads."""

    class OutputWrapper(NamedTuple):
        """What a step gives."""

        cell_outputs: Any
        sample_ids: Any

    def __init__(self, cell: Any, helper: Any, output_fn: Any = None) -> None:
        self.cell, self.helper, self.output_fn = cell, helper, output_fn

    def initialize(self, initial_cell_states: Any) -> Any:
        """The helper's first inputs."""
        inputs, finished = self.helper.initialize()
        return inputs, initial_cell_states, finished

    def step(self, time: Variable, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """A step of the cell, and what the helper makes of it."""
        rows, after = self.cell(inputs, states, **kwargs)
        rows = rows if self.output_fn is None else self.output_fn(rows)
        ids = self.helper.sample(time=time, outputs=rows, states=after)
        ids.stop_gradient = True
        finished, following, after = self.helper.next_inputs(
            time=time, outputs=rows, states=after, sample_ids=ids
        )
        return self.OutputWrapper(rows, ids), after, following, finished


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """What a decoder gives until all sentences have ended or ``max_step_num`` is passed, (n, time, ...), the
    last states and, where ``return_length``, how many steps each sentence took.

    ``impute_finished``: states of a sentence that has ended stay as they are. ``output_time_major``: outputs
    are (time, n, ...). Others are for the decoder's steps.
    """
    first_inputs, first_states, first_finished = decoder.initialize(inits)
    inputs, states, finished = (
        map_structure(assign, each) for each in (first_inputs, first_states, first_finished)
    )
    finished.stop_gradient = True
    step = fill_constant([1], "int64", 0)
    most = None if max_step_num is None else fill_constant([1], "int64", max_step_num)
    lengths = cast(zeros_like(finished), "int64")
    lengths.stop_gradient = True
    condition = logical_not(reduce_all(finished))
    loop = While(condition, is_test=is_test)
    with loop.block():
        outputs, after, following, ended = decoder.step(step, inputs, states, **kwargs)
        if getattr(decoder, "tracks_own_finished", False):
            longer = getattr(after, "lengths", lengths)
        else:
            ended = logical_or(ended, finished)
            longer = elementwise_add(lengths, cast(logical_not(finished), "int64"))
            if impute_finished:
                after = map_structure(lambda old, new: _kept(old, new, finished), states, after)
        arrays = map_structure(_array_around, outputs)
        map_structure(lambda each, array: array_write(each, step, array), outputs, arrays)
        increment(step, 1.0)
        for made, target in ((following, inputs), (after, states), (ended, finished), (longer, lengths)):
            map_structure(assign, made, target)
        goes_on = logical_not(reduce_all(finished))
        goes_on = goes_on if most is None else logical_and(goes_on, less_equal(step, most))
        assign(goes_on, condition)
    return _ended(decoder, arrays, states, lengths, output_time_major, return_length)


def _ended(
    decoder: Any, arrays: Any, states: Any, lengths: Variable, time_major: bool, return_length: bool
) -> tuple[Any, ...]:
    outputs = map_structure(lambda array: tensor_array_to_tensor(array, axis=0, use_stack=True)[0], arrays)
    with suppress(NotImplementedError):  # a decoder needs none
        outputs, states = decoder.finalize(outputs, states, lengths)
    if not time_major:
        outputs = map_structure(turned, outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)


def _array_around(like: Variable) -> Variable:
    """An array in the block around the loop's."""
    helper = LayerHelper("array")
    around = helper.block.parent
    assert around is not None
    return around.create_var(f"{helper.name}.out", type=VarType.LOD_TENSOR_ARRAY, dtype=like.dtype)


def _kept(old: Variable, new: Variable, finished: Variable) -> Variable:
    """The old where a sentence has ended."""
    kind = "float32" if old.dtype == VarType.BOOL else old.dtype
    there = cast(logical_not(finished), kind)
    there.stop_gradient = True
    if kind == old.dtype:
        return held(old, new, there)
    return cast(held(cast(old, kind), cast(new, kind), there), old.dtype)
