"""Layers over sequences: they make one element of many, many of one, or remember while they pass along.

They must never know how they are computed. Guarantee: names and shapes of parameters are the original's: the
weights of ``lstmemory`` are (size, size, 4) and its bias 7 * size, three of which look at the cell's state.
"""

from __future__ import annotations

from typing import Any

from paddle.v2._draft import Draft, attribute_alone, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2.activation import BaseActivation, Identity, Sigmoid, Tanh
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import Avg, BasePoolingType, Max

Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None


class AggregateLevel:
    """What a layer makes one element of: a whole sample, or each inner sequence of a nested one."""

    TO_NO_SEQUENCE = "non-seq"
    TO_SEQUENCE = "seq"
    EACH_TIMESTEP = TO_NO_SEQUENCE  # as older programs call the two
    EACH_SEQUENCE = TO_SEQUENCE


class ExpandLevel:
    """What an element becomes: all of a sample, or an inner sequence of it."""

    FROM_NO_SEQUENCE = AggregateLevel.TO_NO_SEQUENCE
    FROM_SEQUENCE = AggregateLevel.TO_SEQUENCE
    FROM_TIMESTEP = FROM_NO_SEQUENCE


def pooling(
    input: Layer,
    pooling_type: BasePoolingType | None = None,
    name: str | None = None,
    bias_attr: Bias = None,
    agg_level: str = AggregateLevel.TO_NO_SEQUENCE,
    stride: int = -1,
    layer_attr: Extra = None,
) -> Layer:
    """The elements of a sequence become one: by default the greatest of each column.

    ``Max(output_max_index=True)`` gives the number of that element among all of the batch, as a float, and -1
    for a sequence without any; from it nothing is learned. Not inside of recurrent groups.
    """
    pooling_type = Max() if pooling_type is None else pooling_type
    name = name or default_name("seq_pooling")
    if pooling_type.name not in ("max", "average"):
        raise WrongCall(
            f"layer {name!r}: a sequence is pooled by Max, Avg, Sum or SquareRootN of paddle.pooling, not by "
            f"{pooling_type!r}"
        )
    values: dict[str, Any] = {}
    if isinstance(pooling_type, Avg):
        values["average_strategy"] = pooling_type.strategy
    elif isinstance(pooling_type, Max) and pooling_type.output_max_index:
        values["output_max_index"] = True
    return _reduced(pooling_type.name, name, input, agg_level, stride, layer_attr, bias_attr, **values)


def last_seq(
    input: Layer,
    name: str | None = None,
    agg_level: str = AggregateLevel.TO_NO_SEQUENCE,
    stride: int = -1,
    layer_attr: Extra = None,
) -> Layer:
    """The last element of each sequence."""
    return _reduced("seqlastins", name or default_name("last_seq"), input, agg_level, stride, layer_attr)


def first_seq(
    input: Layer,
    name: str | None = None,
    agg_level: str = AggregateLevel.TO_NO_SEQUENCE,
    stride: int = -1,
    layer_attr: Extra = None,
) -> Layer:
    """The first element of each sequence."""
    return _reduced(
        "seqlastins",
        name or default_name("first_seq"),
        input,
        agg_level,
        stride,
        layer_attr,
        select_first=True,
    )


def expand(
    input: Layer,
    expand_as: Layer,
    name: str | None = None,
    bias_attr: Bias = False,
    expand_level: str = ExpandLevel.FROM_NO_SEQUENCE,
    layer_attr: Extra = None,
) -> Layer:
    """Each row of the input as often as the sequence of ``expand_as`` in its place has elements."""
    name = name or default_name("expand_layer")
    (source,), (like,) = listed(name, input), listed(name, expand_as)
    draft = Draft("expand", name, size=source.size, layer_attr=layer_attr)
    draft.read(dense(name, source))
    draft.read(like)
    draft.bias(attribute_alone(bias_attr), by_default=False)
    return draft.done(trans_type=expand_level)


def seq_concat(
    a: Layer,
    b: Layer,
    act: BaseActivation | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
    bias_attr: Bias = None,
) -> Layer:
    """Of each sample the sequence of ``a``, and after it that of ``b``; then act."""
    name = name or default_name("seqconcat")
    if a.size != b.size:
        raise WrongCall(f"layer {name!r} joins sequences of one size, not of {a.size} and {b.size}")
    draft = Draft("seqconcat", name, size=a.size, act=act or Identity(), layer_attr=layer_attr)
    for each in (a, b):
        draft.read(dense(name, each))
    draft.bias(bias_attr, by_default=False)
    return draft.done()


def lstmemory(
    input: Layer,
    name: str | None = None,
    size: int | None = None,
    reverse: bool = False,
    act: BaseActivation | None = None,
    gate_act: BaseActivation | None = None,
    state_act: BaseActivation | None = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A long short-term memory with peepholes. Its size is a quarter of the input's, which is what reaches
    candidate, input gate, forget gate and output gate from outside: a layer of 4 * size without activation.

    ``reverse``: it passes along from the end of a sequence to its beginning.
    """
    name = name or default_name("lstmemory")
    (source,) = listed(name, input)
    _check_size(name, source, size, 4)
    acts = {"act": act or Tanh(), "gate_act": gate_act or Sigmoid(), "state_act": state_act or Tanh()}
    draft = Draft("lstmemory", name, size=source.size // 4, act=acts["act"], layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [draft.size, draft.size, 4])
    draft.bias(bias_attr, by_default=True, dims=[1, 7 * draft.size])
    gates, state = acts["gate_act"].name, acts["state_act"].name
    return draft.done(reversed=bool(reverse), active_gate_type=gates, active_state_type=state)


def grumemory(
    input: Layer,
    size: int | None = None,
    name: str | None = None,
    reverse: bool = False,
    act: BaseActivation | None = None,
    gate_act: BaseActivation | None = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A gated recurrent unit. Its size is a third of the input's, which is what reaches update gate, reset
    gate and candidate from outside: a layer of 3 * size without activation.

    ``reverse``: it passes along from the end of a sequence to its beginning.
    """
    name = name or default_name("gru")
    (source,) = listed(name, input)
    _check_size(name, source, size, 3)
    acts = {"act": act or Tanh(), "gate_act": gate_act or Sigmoid()}
    draft = Draft("gated_recurrent", name, size=source.size // 3, act=acts["act"], layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [draft.size, 3 * draft.size])
    draft.bias(bias_attr, by_default=True, dims=[1, 3 * draft.size])
    return draft.done(reversed=bool(reverse), active_gate_type=acts["gate_act"].name)


def _reduced(
    type: str,
    name: str,
    input: Layer,
    agg_level: str,
    stride: int,
    layer_attr: Extra,
    bias_attr: Bias = None,
    **values: Any,
) -> Layer:
    """A layer that gives one row for each sequence."""
    (source,) = listed(name, input)
    if stride != -1 and (stride < 1 or agg_level != AggregateLevel.TO_NO_SEQUENCE):
        raise WrongCall(
            f"layer {name!r}: a stride is 1 or more, of sequences that are not sequences of sequences, not "
            f"{stride}"
        )
    draft = Draft(type, name, size=source.size, layer_attr=layer_attr)
    draft.read(dense(name, source))
    draft.bias(bias_attr, by_default=False)
    return draft.done(trans_type=agg_level, seq_pool_stride=stride, **values)


def _check_size(name: str, source: Layer, size: int | None, parts: int) -> None:
    if source.size % parts:
        raise WrongCall(f"layer {name!r}: its input has {source.size} columns, no multiple of {parts}")
    if size is not None and size * parts != source.size:
        raise WrongCall(
            f"layer {name!r}: its size is its input's over {parts}, {source.size // parts}, not {size}"
        )
