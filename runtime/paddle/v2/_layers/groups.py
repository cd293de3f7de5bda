"""Recurrent groups: a program says what happens at one moment, and that happens at all moments of sequences.

    def step(word):
        former = paddle.layer.memory(name="state", size=64)
        return paddle.layer.fc(input=[word, former], size=64, name="state")

    states = paddle.layer.recurrent_group(step=step, input=words)

It must never know how they are run. Guarantee: layers and parameters of a group have the original's names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle.v2._config import LayerConfig, LayerInputConfig, LinkConfig, MemoryConfig
from paddle.v2._draft import Draft, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2._scope import Group, current, writing
from paddle.v2.activation import BaseActivation
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["StaticInput", "SubsequenceInput", "get_output", "memory", "recurrent_group"]

Extra = ExtraLayerAttribute | None


class StaticInput:
    """A layer that a group sees whole at every moment: a row of each sample, or a sequence of it.

    ``is_seq`` and ``size`` are the original's older ones: nothing depends on them.
    """

    def __init__(self, input: Layer, is_seq: bool = False, size: int | None = None) -> None:
        (self.input,) = listed("StaticInput", input)
        if size is not None and size != input.size:
            raise WrongCall(f"StaticInput: {input!r} has size {input.size}, not {size}")


def SubsequenceInput(input: Layer) -> Layer:  # noqa: N802  the original's name
    """A sequence of sequences, of which a group sees one inner sequence at a moment: ``input`` itself."""
    return input


class MemoryLayer(Layer):
    """What a layer of a group was one moment earlier."""

    def set_input(self, input: Layer) -> None:
        """Say which layer it remembers, where ``memory`` was given no name."""
        assert self.home is not None
        self.home.memory_of(self).layer_name = input.name


def memory(
    name: str | None,
    size: int,
    memory_name: str | None = None,
    is_seq: bool = False,
    boot_layer: Layer | None = None,
    boot_bias: ParameterAttribute | bool | None = None,
    boot_bias_active_type: BaseActivation | None = None,
    boot_with_const_id: int | None = None,
) -> MemoryLayer:
    """What the layer ``name`` of this group was one moment earlier, and at first ``boot_layer``, a bias that
    is learned, or zeros. Without a name its ``set_input`` tells the layer.

    Where ``boot_layer`` is a sequence it remembers one, as long as that: a bank of rows that a step reads and
    writes. ``is_seq`` says so, too; nothing else depends on it.

    ``boot_with_const_id``: it remembers ids, of which this is the first.
    """
    group = _group("memory")
    unnamed = memory_name or default_name("memory")  # counted for one with a name, too
    own = f"{name}+delay1" if name is not None else unnamed
    if is_seq and boot_layer is None:
        raise WrongCall(f"memory {own!r} of whole sequences begins with one: give a boot_layer")
    if sum((boot_layer is not None, bool(boot_bias), boot_with_const_id is not None)) > 1:
        raise WrongCall(f"memory {own!r} begins with a layer, a bias or an id: give one of the three")
    config = MemoryConfig(link_name=group.within(own))
    if name is not None:
        config.layer_name = group.within(name)
    learned = []
    if boot_bias:
        attr = (
            boot_bias
            if isinstance(boot_bias, ParameterAttribute)
            else ParameterAttribute(initial_mean=0.0, initial_std=0.0)
        )
        learned.append(attr.configure(f"_{group.within(own)}.wbias", [1, size], None))
        config.boot_bias_parameter_name = learned[0][0].name
        config.boot_bias_active_type = boot_bias_active_type.name if boot_bias_active_type else ""
    if boot_layer is not None:
        config.boot_layer_name = boot_layer.name
    if boot_with_const_id is not None:
        config.boot_with_const_id = boot_with_const_id
    group.remember(config)
    agent = group.agent("agent", own, boot_layer, size, learned, MemoryLayer)
    agent.holds_ids = boot_with_const_id is not None
    assert isinstance(agent, MemoryLayer)
    return agent


def get_output(input: Layer, arg_name: str, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """What a layer gives besides: ``state`` of ``lstm_step``."""
    name = name or default_name("get_output_layer")
    _, *there = input.outputs
    if arg_name not in there:
        raise WrongCall(f"layer {name!r}: {input!r} gives no {arg_name!r} besides; it has {there}")
    draft = Draft("get_output", name, size=input.size, layer_attr=layer_attr)
    draft.read(input)
    draft.config.inputs[0].input_layer_argument = arg_name
    return draft.done()


Input = Layer | StaticInput | Any


def recurrent_group(
    step: Callable[..., Layer | Sequence[Layer]],
    input: Input | Sequence[Input],
    reverse: bool = False,
    name: str | None = None,
    targetInlink: Layer | None = None,
) -> Any:
    """Call ``step`` once, with a layer for each input, and run what it writes at every moment.

    A layer is a sequence, of which a step sees the element of its moment: a row, or of a sequence of
    sequences an inner sequence. All must have as many elements; but of a layer that gives no sequence the
    step sees the row of each sample at all moments. A StaticInput is seen whole, and what is no layer, a size
    for example, is handed on as it is. Returns sequences of what the step returns: a layer, or a list where
    the step returns several.

    ``reverse``: moments run from the end. ``targetInlink`` is the original's older one: nothing depends on
    it.
    """
    group = Group(name or default_name("recurrent_group"), reverse)
    inputs = [input] if isinstance(input, Layer | StaticInput) else list(input)
    if not any(isinstance(each, Layer) for each in inputs):
        raise WrongCall(f"the recurrent group {group.name!r} has no sequence among its inputs: {inputs}")
    with writing(group):
        made = step(*(given(group, each) for each in inputs))
    outputs = listed(group.name, made)
    gathered = close(group, outputs)
    return gathered[0] if isinstance(made, Layer) or len(gathered) == 1 else gathered


def given(group: Group, each: Input) -> Any:
    """What a step sees of an input."""
    if isinstance(each, Layer):
        return group.link(each, gives_ids(each))
    if not isinstance(each, StaticInput):
        return each
    own = default_name("memory")
    agent = group.agent("agent", own, each.input, each.input.size)
    agent.holds_ids = gives_ids(each.input)
    config = MemoryConfig(layer_name=agent.name, link_name=agent.name, boot_layer_name=each.input.name)
    group.remember(config)
    return agent


def close(group: Group, outputs: Sequence[Layer], extra: Sequence[Layer] = ()) -> list[Layer]:
    """End a group; returns the layers that stand for its outputs outside. ``extra``: what it needs
    besides."""
    for each in outputs:
        group.check(each, group, f"the step of the group {group.name!r}")
    inner = group.needed([*outputs, *extra])
    config = group.config
    config.layer_names = [each.name for each in inner]
    kept = set(config.layer_names)
    config.memories = [each for each in config.memories if each.link_name in kept]
    whole = Layer(LayerConfig(name=group.name, type="recurrent_layer_group"), [*inner, *group.outside])
    whole.group = group
    gathered = []
    for each in outputs:
        short = each.name.removesuffix(f"@{group.name}")
        name = short if group.parent is None else group.parent.within(short)
        config.out_links.append(LinkConfig(layer_name=each.name, link_name=name))
        layer = Layer(LayerConfig(name=name, type="gather_agent", size=each.size), [whole])
        layer.config.inputs.append(LayerInputConfig(input_layer_name=group.name))
        layer.activation, layer.holds_ids = each.activation, gives_ids(each)
        gathered.append(layer)
    for layer in (whole, *gathered):
        if group.parent is not None:
            group.parent.adopt(layer)
    return gathered


def _group(what: str) -> Group:
    group = current()
    if group is None:
        raise RuntimeError(f"paddle.layer.{what} is for the step of a recurrent group: call it inside one")
    return group
