"""Rows of the operators over sequences: reduced, expanded, joined, cut, padded, turned, looked at in windows.

The innermost level of a LoD is the one that is worked on, as in the original. It must never know how
sequences are fed.
"""

from __future__ import annotations

from math import prod

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType, dtype_of, engine_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram, NoSequences
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.runs import constant, matrix, picked, sequences, shaped, unpadded
from paddle._program.ops.sizes import known_sizes

_DENSE = 3  # axes of a batch of sequences that is no LoDTensor
_REDUCED = {"AVERAGE": "average", "SUM": "sum", "SQRT": "sqrt"}


@lowers("sequence_pool", pooltype="AVERAGE", is_test=False, pad_value=0.0)
def _sequence_pool(low: Lowering, op: Operator) -> None:
    x, kind = sequences(low, op, "X"), str(op.attr("pooltype")).upper()
    rows, offsets = matrix(low, x.variable), x.runs[-1]
    if kind in _REDUCED:
        found = low.op("sequence_pool", {"pooltype": _REDUCED[kind]}, X=rows, Offsets=offsets)
    elif kind == "MAX":
        made = low.builder.ops("sequence_max", X=rows, Offsets=offsets)
        found = made["Out"]
        low.give(op, "MaxIndex", made["Places"], x.runs[:-1], dtype=VarType.INT32)
    elif kind in ("FIRST", "LAST"):
        found = low.op("sequence_end", {"which": kind.lower()}, X=rows, Offsets=offsets)
    else:
        kinds = ", ".join(sorted([*_REDUCED, "MAX", "FIRST", "LAST"])).lower()
        raise BadProgram(f"sequence_pool pools by one of {kinds}, not {op.attr('pooltype')!r}")
    found = _where_empty(low, found, offsets, float(op.attr("pad_value")))
    low.give(op, "Out", shaped(low, found, x.variable), x.runs[:-1])


def _where_empty(
    low: Lowering, found: EngineVariable, offsets: EngineVariable, pad_value: float
) -> EngineVariable:
    """What a sequence without rows is reduced to."""
    if not pad_value:
        return found
    lengths = low.op("reshape", {"shape": (-1, 1)}, X=low.op("sequence_lengths", Offsets=offsets))
    none = low.op("cast", {"dtype": "float32"}, X=low.op("is_id", {"id": 0}, X=lengths))
    return low.op("elementwise_add", X=found, Y=low.op("scale", {"scale": pad_value}, X=none))


@lowers("sequence_softmax", use_cudnn=False, data_format="AnyLayout")
def _sequence_softmax(low: Lowering, op: Operator) -> None:
    x = sequences(low, op, "X")
    column = low.op("reshape", {"shape": (-1, 1)}, X=x.variable)
    found = low.op("sequence_softmax", X=column, Offsets=x.runs[-1])
    if x.variable.shape[1:] != (1,):
        found = low.op("reshape", {"shape": (-1, *x.variable.shape[1:])}, X=found)
    low.give(op, "Out", found, x.runs)


@lowers("sequence_expand", ref_level=-1)
def _sequence_expand(low: Lowering, op: Operator) -> None:
    """Each row, or sequence, of X as often as the one of Y beside it has parts at the level."""
    x, y, level = low.input(op, "X"), sequences(low, op, "Y"), op.attr("ref_level")
    if not -1 <= level < len(y.runs):
        raise BadProgram(
            f"sequence_expand has ref_level {level}, and {op.input('Y')[0]!r} has {len(y.runs)} levels"
        )
    level = level % len(y.runs)
    times, is_last = y.runs[level], level == len(y.runs) - 1
    if x.runs:
        found = low.builder.ops("sequence_repeat", Offsets=x.runs[-1], Times=times)
        low.give(op, "Out", picked(low, x.variable, found["Rows"]), (found["Out"],))
    elif is_last:
        rows = low.op("sequence_expand", X=matrix(low, x.variable), Offsets=times, Like=y.variable)
        low.give(op, "Out", shaped(low, rows, x.variable), ())
    else:
        low.give(op, "Out", picked(low, x.variable, low.op("row_repeat", Times=times)), ())


@lowers("sequence_expand_as")
def _sequence_expand_as(low: Lowering, op: Operator) -> None:
    x, y = low.input(op, "X").variable, sequences(low, op, "Y")
    rows = low.op("sequence_expand", X=matrix(low, x), Offsets=y.runs[-1], Like=y.variable)
    low.give(op, "Out", shaped(low, rows, x), y.runs)


@lowers("sequence_concat")
def _sequence_concat(low: Lowering, op: Operator) -> None:
    """The first sequences of all inputs one after another, then the second ones."""
    values = low.inputs(op, "X")
    for name, value in zip(op.input("X"), values, strict=True):
        if not value.runs:
            raise NoSequences(f"sequence_concat joins sequences, and {name!r} has none (lod_level 0)", name)
    first, *others = values
    rows, offsets = matrix(low, first.variable), first.runs[-1]
    for each in others:
        joined = low.builder.ops(
            "sequence_concat", X=rows, Offsets=offsets, Y=matrix(low, each.variable), YOffsets=each.runs[-1]
        )
        rows, offsets = joined["Out"], joined["OutOffsets"]
    low.give(op, "Out", shaped(low, rows, first.variable), (*first.runs[:-1], offsets))


@lowers("sequence_reshape", new_dim=0)
def _sequence_reshape(low: Lowering, op: Operator) -> None:
    x, into = sequences(low, op, "X"), op.attr("new_dim")
    sizes = {"width": prod(x.variable.shape[1:]), "into": into}
    ends = low.op("sequence_resize", sizes, Offsets=x.runs[-1])
    rows = low.op("reshape", {"shape": (-1, into)}, X=x.variable)
    low.give(op, "Out", rows, (*x.runs[:-1], ends))


@lowers("sequence_slice")
def _sequence_slice(low: Lowering, op: Operator) -> None:
    x = sequences(low, op, "X")
    begins, sizes = low.input(op, "Offset").variable, low.input(op, "Length").variable
    made = low.builder.ops("sequence_parts", Offsets=x.runs[-1], Begins=begins, Sizes=sizes)
    low.give(op, "Out", picked(low, x.variable, made["Rows"]), (*x.runs[:-1], made["Out"]))


@lowers("sequence_reverse")
def _sequence_reverse(low: Lowering, op: Operator) -> None:
    x = sequences(low, op, "X")
    rows = low.op("sequence_reverse", X=matrix(low, x.variable), Offsets=x.runs[-1])
    low.give(op, "Y", shaped(low, rows, x.variable), x.runs)


@lowers("sequence_pad", padded_length=-1)
def _sequence_pad(low: Lowering, op: Operator) -> None:
    x, pad = sequences(low, op, "X"), low.input(op, "PadValue").variable
    if pad.dtype != x.variable.dtype:
        pad = low.op("cast", {"dtype": x.variable.dtype}, X=pad)
    lengths = low.op("sequence_lengths", Offsets=x.runs[-1])
    (longest,) = low.told.get(x.runs[-1].name, (op.attr("padded_length"),))
    places = low.op("count_up", {"maxlen": longest, "holds_all": True}, X=lengths)
    rows = low.op("sequence_pad", X=x.variable, Offsets=x.runs[-1], Pad=pad, Places=places)
    low.give(op, "Out", rows, x.runs[:-1])
    low.give(op, "Length", lengths, x.runs[:-1])


@lowers("sequence_unpad")
def _sequence_unpad(low: Lowering, op: Operator) -> None:
    rows, offsets = unpadded(low, low.input(op, "X").variable, low.input(op, "Length").variable)
    low.give(op, "Out", rows, (offsets,))


@lowers("sequence_mask", maxlen=-1, out_dtype=int(VarType.INT64))
def _sequence_mask(low: Lowering, op: Operator) -> None:
    x, kind = low.input(op, "X").variable, dtype_of(op.attr("out_dtype"))
    most = op.attr("maxlen")
    if low.has(op, "MaxLenTensor"):
        (most,) = known_sizes(low, op, "", "MaxLenTensor") or (-1,)
    whole = x
    if x.dtype == "float32":  # a place is within while it is less than x, and the greatest x is cut
        whole = low.op("cast", {"dtype": "int64"}, X=x)
        x = low.op("cast", {"dtype": "int64"}, X=low.op("ceil", X=x))
    places = low.op("count_up", {"maxlen": most}, X=whole)
    mask = low.op("sequence_mask", {"dtype": engine_dtype(kind)}, X=x, Places=places)
    low.give(op, "Y", mask, (), dtype=kind)


@lowers("sequence_enumerate", win_size=1, pad_value=0)
def _sequence_enumerate(low: Lowering, op: Operator) -> None:
    x = sequences(low, op, "X")
    attrs = {"win_size": op.attr("win_size"), "pad_value": op.attr("pad_value")}
    ids = low.op("reshape", {"shape": (-1, 1)}, X=x.variable)
    low.give(op, "Out", low.op("sequence_enumerate", attrs, X=ids, Offsets=x.runs[-1]), x.runs)


@lowers("sequence_scatter")
def _sequence_scatter(low: Lowering, op: Operator) -> None:
    """Of more axes the places are those of all numbers of a row."""
    x, ids, updates = low.input(op, "X"), sequences(low, op, "Ids"), low.input(op, "Updates").variable
    out = low.op(
        "sequence_scatter", X=matrix(low, x.variable), Ids=ids.variable, Offsets=ids.runs[-1], Updates=updates
    )
    low.give(op, "Out", shaped(low, out, x.variable), x.runs)


@lowers("sequence_conv", contextLength=1, contextStart=0, contextStride=1, paddingTrainable=False)
def _sequence_conv(low: Lowering, op: Operator) -> None:
    x, weights = sequences(low, op, "X"), low.input(op, "Filter").variable
    window = {"start": op.attr("contextStart"), "length": op.attr("contextLength")}
    seen = low.op("sequence_window", window, X=matrix(low, x.variable), Offsets=x.runs[-1])
    low.give(op, "Out", low.op("mul", X=seen, Y=weights), x.runs)


@lowers("row_conv")
def _row_conv(low: Lowering, op: Operator) -> None:
    """Each row with those that follow, each weighed by its own row of the filter, column by column."""
    weights = low.input(op, "Filter").variable
    if not (found := low.input(op, "X")).runs and len(found.variable.shape) == _DENSE:
        low.give(op, "Out", _ahead(low, found.variable, weights))
        return
    x, (length, width) = sequences(low, op, "X"), weights.shape
    window = {"start": 0, "length": length}
    seen = low.op("sequence_window", window, X=x.variable, Offsets=x.runs[-1])
    flat = low.op("reshape", {"shape": (1, length * width)}, X=weights)
    weighed = low.op("elementwise_mul", X=seen, Y=flat)
    out = low.op("reduce_sum", {"dim": 1}, X=low.op("reshape", {"shape": (-1, length, width)}, X=weighed))
    low.give(op, "Out", out, x.runs)


def _ahead(low: Lowering, x: EngineVariable, weights: EngineVariable) -> EngineVariable:
    """The same of a batch of sequences of one length, (batch, length, width): behind the last there is 0."""
    (count, width), length = weights.shape, x.shape[1]
    if length == -1:
        raise BadProgram("operator 'row_conv': the length of what is no LoDTensor, axis 1, must be known")
    padded = low.op("pad", {"paddings": ((0, 0), (0, count - 1), (0, 0)), "value": 0.0}, X=x)
    out: EngineVariable | None = None
    for ahead in range(count):
        seen = low.op("slice", {"axes": (1,), "starts": (ahead,), "ends": (ahead + length,)}, X=padded)
        one = low.op("slice", {"axes": (0,), "starts": (ahead,), "ends": (ahead + 1,)}, X=weights)
        part = low.op("elementwise_mul", X=seen, Y=low.op("reshape", {"shape": (1, 1, width)}, X=one))
        out = part if out is None else low.op("elementwise_add", X=out, Y=part)
    assert out is not None  # a filter has a row at least
    return out


@lowers("lod_reset", target_lod=(), append=False)
def _lod_reset(low: Lowering, op: Operator) -> None:
    """The same rows in other sequences: those of Y, or at offsets that Y holds or the attribute says."""
    x, target = low.input(op, "X"), op.attr("target_lod")
    if not low.has(op, "Y"):
        if not target:
            raise BadProgram("lod_reset needs y, whose sequences its result has, or a target_lod")
        runs: tuple[EngineVariable, ...] = (constant(low, target),)
    else:
        y = low.input(op, "Y")
        runs = y.runs or (low.op("reshape", {"shape": (-1,)}, X=y.variable),)
        if y.runs:  # these are all, appended or not
            low.give(op, "Out", x.variable, runs)
            return
    low.give(op, "Out", x.variable, (*x.runs, *runs) if op.attr("append") else runs)


@lowers("im2sequence", kernels=(1, 1), strides=(1, 1), paddings=(0, 0, 0, 0), out_stride=(1, 1))
def _im2sequence(low: Lowering, op: Operator) -> None:
    attrs = {name: tuple(op.attr(name)) for name in ("kernels", "strides", "paddings")}
    image = low.input(op, "X").variable
    rows = low.op("image_windows", attrs, X=image)
    low.give(op, "Out", rows, (low.op("even_offsets", X=rows, Of=image),))
