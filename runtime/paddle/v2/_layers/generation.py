"""Generation: a step that was trained makes sequences of its own, one word after another.

    words = paddle.layer.beam_search(
        step=step,
        input=[paddle.layer.StaticInput(encoded), paddle.layer.GeneratedInput(30000, "table", 512)],
        bos_id=0,
        eos_id=1,
        beam_size=3,
    )
    probs, ids = paddle.infer(output_layer=words, parameters=parameters, input=rows, field=["prob", "id"])

It must never know how a search is done. Guarantee: parameters of the step are those of the group of the same
name that was trained.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.v2._config import GeneratorConfig
from paddle.v2._draft import listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.groups import StaticInput, close, given, memory
from paddle.v2._layers.moments import eos
from paddle.v2._scope import Group, writing
from paddle.v2.attr import ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["BaseGeneratedInput", "GeneratedInput", "GeneratedInputV2", "StaticInputV2", "beam_search"]

PREDICTED = "__beam_search_predict__"


class BaseGeneratedInput:
    """What a step makes at one moment and is given at the next."""

    bos_id: int | None = None
    eos_id: int | None = None

    def before_real_step(self) -> Layer:
        """What the step is given."""
        raise NotImplementedError

    def after_real_step(self, input: Layer | Sequence[Layer]) -> list[Layer]:
        """What is made of what the step returned; the word comes first."""
        raise NotImplementedError


class GeneratedInput(BaseGeneratedInput):
    """The word before: one of ``size``, as the row of the table ``embedding_name``, ``embedding_size``
    wide."""

    def __init__(self, size: int, embedding_name: str, embedding_size: int) -> None:
        self.size, self.embedding_name, self.embedding_size = size, embedding_name, embedding_size

    def before_real_step(self) -> Layer:
        """The row of the word that was chosen one moment earlier."""
        from paddle.v2 import layer  # which has this module's names

        word = memory(name=PREDICTED, size=self.size, boot_with_const_id=self.bos_id)
        table = ParameterAttribute(name=self.embedding_name)
        return layer.embedding(word, self.embedding_size, param_attr=table)

    def after_real_step(self, input: Layer | Sequence[Layer]) -> list[Layer]:
        """The most probable word; the step returns how probable each is."""
        from paddle.v2 import layer  # which has this module's names

        first, *others = listed(PREDICTED, input)
        if others:
            raise NotInThisRelease(
                f"a step that generates returns probabilities of words alone, not {others}"
            )
        return [layer.max_id(first, name=PREDICTED)]


GeneratedInputV2, StaticInputV2 = GeneratedInput, StaticInput
"""The names of both before the release 0.10."""

Input = StaticInput | BaseGeneratedInput


def beam_search(
    step: Callable[..., Layer | Sequence[Layer]],
    input: Input | Sequence[Input],
    bos_id: int,
    eos_id: int,
    beam_size: int,
    max_length: int = 500,
    name: str | None = None,
    num_results_per_sample: int | None = None,
) -> Layer:
    """The most probable sequences of words that a step makes, beginning behind ``bos_id``, until ``eos_id``
    or ``max_length`` words.

    At every moment the ``beam_size`` most probable beginnings go on. ``infer(field="prob")`` gives a row of
    ``num_results_per_sample`` logarithms for each sample, the greatest first, and ``field="id"`` of each
    result its length, its words with ``eos_id``, and -1; where there is one result, its words alone. Without
    ``num_results_per_sample`` all of the beam are results.
    """
    name = name or default_name("beam_search")
    inputs = [input] if isinstance(input, Input) else list(input)
    results = beam_size if num_results_per_sample is None else num_results_per_sample
    if results > beam_size:
        warnings.warn(f"beam_search {name!r}: {results} results of a beam of {beam_size}", stacklevel=2)
    generated = [each for each in inputs if isinstance(each, BaseGeneratedInput)]
    if wrong := [each for each in inputs if isinstance(each, Layer)]:
        raise WrongCall(f"beam_search {name!r} sees StaticInput and GeneratedInput, not {wrong[0]!r}")
    asked = WrongCall(
        f"beam_search {name!r} takes one GeneratedInput, and one StaticInput or more, or a step whose memory "
        "begins with a boot_layer: the samples of which something is to be generated"
    )
    if len(generated) != 1:
        raise asked
    (word,) = generated
    word.bos_id, word.eos_id = bos_id, eos_id
    group = Group(name, is_reverse=False)
    with writing(group):
        seen: list[Any] = [each if each is word else given(group, each) for each in inputs]
        seen[inputs.index(word)] = word.before_real_step()
        predicted = word.after_real_step(step(*seen))
        end = eos(predicted[0], eos_id, name=f"__{name}_eos_layer__")
    if not any(memory.boot_layer_name for memory in group.config.memories):
        raise asked
    group.config.generator = GeneratorConfig(
        max_num_frames=max_length,
        eos_layer_name=end.name,
        num_results_per_sample=results,
        beam_size=beam_size,
    )
    return close(group, predicted, [end])[0]
