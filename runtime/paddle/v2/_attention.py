"""Attention: from a sequence one row, in which each element counts as much as what looks at it finds it fit.

It must never know whether a program looks once, or at each moment of a group. Guarantee: weights of the
elements of a sequence add up to 1.
"""

from __future__ import annotations

import math

from paddle.v2 import layer
from paddle.v2._errors import WrongCall
from paddle.v2.activation import BaseActivation, SequenceSoftmax, Tanh
from paddle.v2.attr import ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import Sum

__all__ = ["dot_product_attention", "multi_head_attention", "simple_attention"]

Param = ParameterAttribute | None
KINDS = ("dot-product attention", "additive attention")


def simple_attention(
    encoded_sequence: Layer,
    encoded_proj: Layer,
    decoder_state: Layer,
    transform_param_attr: Param = None,
    softmax_param_attr: Param = None,
    weight_act: BaseActivation | None = None,
    name: str | None = None,
) -> Layer:
    """``encoded_sequence``, weighed by a layer over ``encoded_proj`` and the ``decoder_state``
    (Bahdanau's)."""
    name = name or default_name("simple_attention")
    size = decoder_state.size
    if encoded_proj.size != size:
        raise WrongCall(f"network {name!r}: encoded_proj has size {encoded_proj.size}, decoder_state {size}")
    asked = layer.mixed(
        size=size,
        input=layer.full_matrix_projection(decoder_state, param_attr=transform_param_attr),
        name=f"{name}_transform",
    )
    expanded = layer.expand(asked, encoded_sequence, name=f"{name}_expand")
    combined = layer.mixed(
        size=size,
        input=[layer.identity_projection(expanded), layer.identity_projection(encoded_proj)],
        name=f"{name}_combine",
        act=weight_act or Tanh(),
    )
    return _weighed(name, "", combined, encoded_sequence, softmax_param_attr)


def dot_product_attention(
    encoded_sequence: Layer,
    attended_sequence: Layer,
    transformed_state: Layer,
    softmax_param_attr: Param = None,
    name: str | None = None,
) -> Layer:
    """``attended_sequence``, weighed by the products of ``encoded_sequence`` with ``transformed_state``."""
    name = name or default_name("dot_product_attention")
    expanded = layer.expand(transformed_state, encoded_sequence, name=f"{name}_expand")
    found = layer.dot_prod(expanded, encoded_sequence, name=f"{name}_dot-product")
    return _weighed(name, "", found, attended_sequence, softmax_param_attr)


def multi_head_attention(
    query: Layer,
    key: Layer,
    value: Layer,
    key_proj_size: int,
    value_proj_size: int,
    head_num: int,
    attention_type: str,
    softmax_param_attr: Param = None,
    name: str | None = None,
) -> Layer:
    """``head_num`` attentions side by side, each with projections of its own; ``attention_type`` is one of
    "dot-product attention" and "additive attention"."""
    name = name or default_name("multi_head_attention")
    if attention_type not in KINDS:
        raise WrongCall(f"network {name!r}: attention_type is one of {KINDS}, not {attention_type!r}")
    asked = _projected(query, key_proj_size * head_num, f"{name}_query_proj")
    asked = layer.expand(asked, key)
    keys = _projected(key, key_proj_size * head_num, f"{name}_key_proj")
    values = _projected(value, value_proj_size * head_num, f"{name}_value_proj")
    heads = []
    for i in range(head_num):
        one, other = (_cut(each, key_proj_size, i) for each in (asked, keys))
        if attention_type == KINDS[0]:
            found = layer.dot_prod(one, other, name=f"{name}_dot-product_{i}")
            slope = math.sqrt(1.0 / key_proj_size)
            found = layer.slope_intercept(found, name=f"{name}_dot-product_scaling_{i}", slope=slope)
        else:
            both = [layer.identity_projection(one), layer.identity_projection(other)]
            found = layer.mixed(key_proj_size, both, name=f"{name}_combine_{i}", act=Tanh())
        own = _cut(values, value_proj_size, i)
        heads.append(_weighed(name, f"_{i}", found, own, softmax_param_attr))
    return layer.concat(heads)


def _projected(source: Layer, size: int, name: str) -> Layer:
    return layer.mixed(size=size, input=layer.full_matrix_projection(source), name=name)


def _cut(source: Layer, width: int, number: int) -> Layer:
    """The columns of one head."""
    return layer.mixed(size=width, input=layer.identity_projection(source, width * number, width))


def _weighed(name: str, suffix: str, found: Layer, of: Layer, param_attr: Param) -> Layer:
    """The sum of the elements of a sequence, weighed by what was found of each."""
    weight = layer.fc(
        found,
        size=1,
        act=SequenceSoftmax(),
        param_attr=param_attr,
        name=f"{name}_softmax{suffix}",
        bias_attr=False,
    )
    scaled = layer.scaling(of, weight, name=f"{name}_scaling{suffix}")
    return layer.pooling(scaled, Sum(), name=f"{name}_pooling{suffix}")
