"""Layers over sequences: rows that a LoD says belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddle._program.description.dtypes import VarType, dtype_of
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._listed import of_layers

__all__ = [
    "im2sequence",
    "lod_append",
    "lod_reset",
    "row_conv",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_mask",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_unpad",
]

_POOLS = ("average", "sum", "sqrt", "max", "last", "first")


def appended(
    helper: LayerHelper,
    type: str,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    out: str = "Out",
    dtype: Any = None,
) -> Variable:
    """What one operator gives, in the dtype of its first input unless another is said."""
    first = next(each for each in inputs.values() if each is not None)
    for given in inputs.values():
        for each in given if isinstance(given, list | tuple) else [given]:
            if each is not None and not isinstance(each, Variable):
                raise BadArgument(f"{helper.layer_type} takes Variables of the program, not {each!r}")
    like = first[0] if isinstance(first, list | tuple) else first
    made = helper.create_variable_for_type_inference(like.dtype if dtype is None else dtype_of(dtype))
    helper.append_op(type, dict(inputs), {out: [made]}, dict(attrs or {}))
    return made


def sequence_conv(
    input: Variable,
    num_filters: int,
    filter_size: int = 3,
    filter_stride: int = 1,
    padding: Any = True,
    padding_start: int | None = None,
    bias_attr: Any = None,
    param_attr: Any = None,
    act: Any = None,
    name: str | None = None,
) -> Variable:
    """Each row with those around it, ``filter_size`` in all, times one matrix; zeros outside the sequence.

    ``padding_start``: where the window begins, relative to the row: by default it has it in the middle.
    """
    if filter_stride != 1:
        raise BadArgument(f"sequence_conv moves by one row at a time, not by {filter_stride}")
    arguments = {"input": input, "param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    helper = LayerHelper("sequence_conv", **arguments)
    dtype = helper.input_dtype()
    weights = helper.create_parameter(helper.param_attr, [filter_size * input.shape[1], num_filters], dtype)
    start = -int(filter_size // 2) if padding_start is None else padding_start
    attrs = {"contextStride": 1, "contextStart": start, "contextLength": filter_size}
    out = appended(helper, "sequence_conv", {"X": input, "Filter": weights}, attrs)
    return helper.append_activation(helper.append_bias_op(out))


def row_conv(input: Variable, future_context_size: int, param_attr: Any = None, act: Any = None) -> Variable:
    """Each row with so many that follow it in its sequence, weighed column by column; of sequences, or of a
    batch (batch, length, width)."""
    helper = LayerHelper("row_conv", input=input, param_attr=param_attr, act=act)
    shape = [future_context_size + 1, helper.input().shape[-1]]
    weights = helper.create_parameter(helper.param_attr, shape, helper.input_dtype())
    return helper.append_activation(appended(helper, "row_conv", {"X": input, "Filter": weights}))


def sequence_softmax(
    input: Variable,
    use_cudnn: bool = False,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Variable:
    """A softmax over the rows of each sequence, which have one column."""
    helper = LayerHelper("sequence_softmax", input=input, name=name)
    return appended(helper, "sequence_softmax", {"X": input})


def sequence_pool(input: Variable, pool_type: str, is_test: bool = False, pad_value: float = 0.0) -> Variable:
    """One row for each sequence: ``pool_type`` is average, sum, sqrt (the sum over the root of the length),
    max, last or first. A sequence without rows becomes ``pad_value``."""
    if str(pool_type).lower() not in _POOLS:
        raise BadArgument(f"pool_type is one of {', '.join(_POOLS)}, not {pool_type!r}")
    helper = LayerHelper("sequence_pool", input=input)
    out = helper.create_variable_for_type_inference(helper.input_dtype())
    places = helper.create_variable_for_type_inference(VarType.INT32, stop_gradient=True)
    attrs = {"pooltype": pool_type.upper(), "is_test": is_test, "pad_value": pad_value}
    helper.append_op("sequence_pool", {"X": [input]}, {"Out": [out], "MaxIndex": [places]}, attrs)
    return out


def sequence_first_step(input: Variable) -> Variable:
    """The first row of each sequence."""
    return sequence_pool(input, "first")


def sequence_last_step(input: Variable) -> Variable:
    """The last row of each sequence."""
    return sequence_pool(input, "last")


def sequence_concat(input: Sequence[Variable], name: str | None = None) -> Variable:
    """Sequences one behind the other: the first ones of all inputs, then the second ones."""
    helper = LayerHelper("sequence_concat", input=list(input), name=name)
    return appended(helper, "sequence_concat", {"X": list(input)})


def sequence_slice(input: Variable, offset: Variable, length: Variable, name: str | None = None) -> Variable:
    """Of each sequence ``length`` rows from ``offset`` on."""
    helper = LayerHelper("sequence_slice", input=input, name=name)
    return appended(helper, "sequence_slice", {"X": input, "Offset": offset, "Length": length})


def sequence_expand(x: Variable, y: Variable, ref_level: int = -1, name: str | None = None) -> Variable:
    """Each row of ``x``, or sequence, as often as the one of ``y`` beside it has parts at ``ref_level``."""
    helper = LayerHelper("sequence_expand", input=x, name=name)
    return appended(helper, "sequence_expand", {"X": x, "Y": y}, {"ref_level": ref_level})


def sequence_expand_as(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """Each row of ``x`` as often as the sequence of ``y`` beside it has rows."""
    helper = LayerHelper("sequence_expand_as", input=x, name=name)
    return appended(helper, "sequence_expand_as", {"X": x, "Y": y})


def sequence_pad(
    x: Variable, pad_value: Variable, maxlen: int | None = None, name: str | None = None
) -> tuple[Variable, Variable]:
    """Sequences as rows of one length, ``maxlen`` or that of the longest, and how long each is."""
    helper = LayerHelper("sequence_pad", input=x, name=name)
    out = helper.create_variable_for_type_inference(helper.input_dtype())
    length = helper.create_variable_for_type_inference(VarType.INT64, stop_gradient=True)
    attrs = {"padded_length": -1 if maxlen is None else maxlen}
    inputs = {"X": [x], "PadValue": [pad_value]}
    helper.append_op("sequence_pad", inputs, {"Out": [out], "Length": [length]}, attrs)
    return out, length


def sequence_unpad(x: Variable, length: Variable, name: str | None = None) -> Variable:
    """The sequences that were padded, each of its length."""
    helper = LayerHelper("sequence_unpad", input=x, name=name)
    return appended(helper, "sequence_unpad", {"X": x, "Length": length})


def sequence_reshape(input: Variable, new_dim: int) -> Variable:
    """The same numbers of each sequence in rows ``new_dim`` wide."""
    helper = LayerHelper("sequence_reshape", input=input)
    return appended(helper, "sequence_reshape", {"X": input}, {"new_dim": new_dim})


def sequence_scatter(
    input: Variable, index: Variable, updates: Variable, name: str | None = None
) -> Variable:
    """``input`` with the updates of sequence i added to row i, at the columns that ``index`` says."""
    helper = LayerHelper("sequence_scatter", input=input, name=name)
    return appended(helper, "sequence_scatter", {"X": input, "Ids": index, "Updates": updates})


def sequence_enumerate(
    input: Variable, win_size: int, pad_value: int = 0, name: str | None = None
) -> Variable:
    """Each id with those that follow it, ``win_size`` in all; ``pad_value`` behind the end."""
    helper = LayerHelper("sequence_enumerate", input=input, name=name)
    attrs = {"win_size": win_size, "pad_value": pad_value}
    return appended(helper, "sequence_enumerate", {"X": input}, attrs)


def sequence_mask(
    x: Variable, maxlen: int | Variable | None = None, dtype: Any = "int64", name: str | None = None
) -> Variable:
    """1 in the first places of a row, as many as ``x`` says, then 0; ``maxlen`` or the greatest in all."""
    helper = LayerHelper("sequence_mask", input=x, name=name)
    attrs = {"maxlen": maxlen if isinstance(maxlen, int) else -1, "out_dtype": int(dtype_of(dtype))}
    inputs = {"X": x, "MaxLenTensor": maxlen} if isinstance(maxlen, Variable) else {"X": x}
    out = appended(helper, "sequence_mask", inputs, attrs, "Y", dtype)
    out.stop_gradient = True
    return out


def sequence_reverse(x: Variable, name: str | None = None) -> Variable:
    """Each sequence from its end to its beginning."""
    helper = LayerHelper("sequence_reverse", input=x, name=name)
    return appended(helper, "sequence_reverse", {"X": x}, out="Y")


def lod_reset(x: Variable, y: Variable | None = None, target_lod: Sequence[int] | None = None) -> Variable:
    """The rows of ``x`` in the sequences of ``y``, or at the offsets that ``y`` or ``target_lod`` holds."""
    helper = LayerHelper("lod_reset", input=x)
    if y is None and not target_lod:
        raise BadArgument("lod_reset needs y, whose sequences its result has, or target_lod, their offsets")
    attrs = {"target_lod": [] if y is not None else [int(each) for each in target_lod or ()]}
    return appended(helper, "lod_reset", {"X": x, "Y": y} if y is not None else {"X": x}, attrs)


def lod_append(x: Variable, level: Any) -> Variable:
    """``x`` with one more, innermost level of sequences: those of a variable, or at these offsets."""
    helper = LayerHelper("lod_append", input=x)
    inputs = {"X": x, "Y": level} if isinstance(level, Variable) else {"X": x}
    listed = [] if isinstance(level, Variable) else [int(each) for each in level]
    return appended(helper, "lod_reset", inputs, {"target_lod": listed, "append": True})


def im2sequence(
    input: Variable,
    filter_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    input_image_size: Variable | None = None,
    out_stride: Any = 1,
    name: str | None = None,
) -> Variable:
    """Each image as the sequence of its windows, from left to right and downwards; ``padding``: zeros above,
    on the left, below and on the right, or (down, across)."""
    if input_image_size is not None:
        raise BadArgument("im2sequence takes images of one size here: leave input_image_size out")
    helper = LayerHelper("im2sequence", input=input, name=name)
    around = list(padding) if isinstance(padding, list | tuple) else [padding] * 4
    attrs = {
        "kernels": _pair(filter_size),
        "strides": _pair(stride),
        "paddings": around * (4 // len(around)),
    }
    return appended(helper, "im2sequence", {"X": input}, attrs)


def _pair(given: Any) -> list[int]:
    return [int(each) for each in given] if isinstance(given, list | tuple) else [int(given)] * 2


__getattr__ = of_layers(__name__)
