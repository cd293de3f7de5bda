"""Nets: layers that often stand together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid import layers
from paddle.fluid.layers.kinds import taking

__all__ = [
    "glu",
    "img_conv_group",
    "scaled_dot_product_attention",
    "sequence_conv_pool",
    "simple_img_conv_pool",
]


@taking
def simple_img_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: Any,
    pool_size: Any,
    pool_stride: Any,
    pool_padding: Any = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: Any = 1,
    conv_padding: Any = 0,
    conv_dilation: Any = 1,
    conv_groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    use_cudnn: bool = True,
) -> Variable:
    """A convolution and pooling."""
    seen = layers.conv2d(
        input=input,
        num_filters=num_filters,
        filter_size=filter_size,
        stride=conv_stride,
        padding=conv_padding,
        dilation=conv_dilation,
        groups=conv_groups,
        param_attr=param_attr,
        bias_attr=bias_attr,
        act=act,
        use_cudnn=use_cudnn,
    )
    return layers.pool2d(
        input=seen,
        pool_size=pool_size,
        pool_type=pool_type,
        pool_stride=pool_stride,
        pool_padding=pool_padding,
        global_pooling=global_pooling,
        use_cudnn=use_cudnn,
    )


@taking
def img_conv_group(
    input: Variable,
    conv_num_filter: Sequence[int],
    pool_size: Any,
    conv_padding: Any = 1,
    conv_filter_size: Any = 3,
    conv_act: str | None = None,
    param_attr: Any = None,
    conv_with_batchnorm: Any = False,
    conv_batchnorm_drop_rate: Any = 0.0,
    pool_stride: Any = 1,
    pool_type: str = "max",
    use_cudnn: bool = True,
) -> Variable:
    """Convolutions one behind the other, each with a normalization and dropout if it is told, and pooling.
    What is told once is told of all."""
    count, seen = len(conv_num_filter), input
    told = {
        name: _of_each(name, given, count)
        for name, given in {
            "padding": conv_padding,
            "size": conv_filter_size,
            "attr": param_attr,
            "norm": conv_with_batchnorm,
            "rate": conv_batchnorm_drop_rate,
        }.items()
    }
    for k, filters in enumerate(conv_num_filter):
        normalizes = told["norm"][k]
        seen = layers.conv2d(
            input=seen,
            num_filters=filters,
            filter_size=told["size"][k],
            padding=told["padding"][k],
            param_attr=told["attr"][k],
            act=None if normalizes else conv_act,
            use_cudnn=use_cudnn,
        )
        if normalizes:
            seen = layers.batch_norm(input=seen, act=conv_act)
            if abs(told["rate"][k]) > 1e-5:
                seen = layers.dropout(x=seen, dropout_prob=told["rate"][k])
    return layers.pool2d(
        input=seen, pool_size=pool_size, pool_type=pool_type, pool_stride=pool_stride, use_cudnn=use_cudnn
    )


def _of_each(name: str, given: Any, count: int) -> list[Any]:
    if not isinstance(given, list | tuple):
        return [given] * count
    if len(given) != count:
        raise BadArgument(f"img_conv_group: {len(given)} of {name} for {count} convolutions")
    return list(given)


@taking
def sequence_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: int,
    param_attr: Any = None,
    act: str | None = "sigmoid",
    pool_type: str = "max",
    bias_attr: Any = None,
) -> Variable:
    """A convolution over each sequence and pooling of it."""
    seen = layers.sequence_conv(
        input=input,
        num_filters=num_filters,
        filter_size=filter_size,
        param_attr=param_attr,
        bias_attr=bias_attr,
        act=act,
    )
    return layers.sequence_pool(input=seen, pool_type=pool_type)


@taking
def glu(input: Variable, dim: int = -1) -> Variable:
    """The first half along an axis, let through as far as the sigmoid of the second half says."""
    first, second = layers.split(input, num_or_sections=2, dim=dim)
    return layers.elementwise_mul(x=first, y=layers.sigmoid(x=second))


@taking
def scaled_dot_product_attention(
    queries: Variable, keys: Variable, values: Variable, num_heads: int = 1, dropout_rate: float = 0.0
) -> Variable:
    """Of each query the mean of the values, each as much as its key is like the query, by ``num_heads``
    parts of the last axis; all three are (samples, steps, width)."""
    for each, said in ((queries, "queries"), (keys, "keys"), (values, "values")):
        if len(each.shape) != 3:
            raise BadArgument(f"scaled_dot_product_attention: {said} have 3 axes, not {list(each.shape)}")
    if queries.shape[-1] != keys.shape[-1] or keys.shape[-2] != values.shape[-2]:
        raise BadArgument(
            "scaled_dot_product_attention: queries are as wide as keys, and keys as many as values"
        )
    if keys.shape[-1] % num_heads or values.shape[-1] % num_heads:
        raise BadArgument(f"scaled_dot_product_attention: {num_heads} heads do not divide {keys.shape[-1]}")
    if num_heads > 1:
        queries, keys, values = (
            layers.fc(input=each, size=each.shape[-1], num_flatten_dims=2) for each in (queries, keys, values)
        )
    queries, keys, values = (_heads(each, num_heads) for each in (queries, keys, values))
    width = keys.shape[-1]
    scores = layers.matmul(x=layers.scale(queries, scale=width**-0.5), y=keys, transpose_y=True)
    shares = layers.softmax(scores)
    if dropout_rate:
        shares = layers.dropout(shares, dropout_prob=dropout_rate, is_test=False)
    found = layers.matmul(shares, values)
    if num_heads == 1:
        return found
    joined = layers.transpose(found, perm=[0, 2, 1, 3])
    return layers.reshape(joined, shape=[0, 0, joined.shape[2] * joined.shape[3]])


def _heads(x: Variable, count: int) -> Variable:
    """(samples, heads, steps, width of one)."""
    if count == 1:
        return x
    parted = layers.reshape(x, shape=[0, 0, count, x.shape[-1] // count])
    return layers.transpose(parted, perm=[0, 2, 1, 3])
