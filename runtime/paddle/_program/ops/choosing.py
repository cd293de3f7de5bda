"""Rows of what is picked out of arrays: by a mask, a diagonal, a draw, or as values that differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.initial import generator_for
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType, dtype_of, engine_dtype, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowered_if, lowers
from paddle._program.ops.filling import drawing
from paddle._program.ops.sizes import in_shape
from paddle._program.running.host import Host


def _among_zeros(low: Lowering, x: EngineVariable, chosen: np.ndarray) -> EngineVariable:
    """What is chosen of x, and 0 elsewhere, whatever x has there: infinity times 0 would be no number."""
    told = {"shape": chosen.shape, "dtype": "int64", "values": tuple(chosen.reshape(-1).astype(int).tolist())}
    zero = low.op("fill_constant", {"shape": (1,), "value": 0, "dtype": x.dtype})
    return low.op("select", Condition=low.op("assign_value", told), X=x, Y=zero)


def _sizes(op: Operator, shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(size < 0 for size in shape):
        raise BadProgram(f"operator {op.type!r} is of arrays of known sizes, not of {list(shape)}")
    return shape


@lowers("tril_triu", diagonal=0, lower=True)
def _tril_triu(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    side = np.tril if op.attr("lower") else np.triu
    kept = side(np.ones(_sizes(op, x.shape[-2:])), op.attr("diagonal"))
    low.give(op, "Out", _among_zeros(low, x, kept))


@lowered_if("trace")
def _is_of_a_matrix(op: Operator) -> bool:
    x = op.block._var_recursive(op.input("Input")[0])
    return len(x.shape) == 2 and min(x.shape) >= 0


@lowers("trace", offset=0, axis1=0, axis2=1)
def _trace(low: Lowering, op: Operator) -> None:
    """Of a matrix; of more axes it is a formula (diagonals.py)."""
    x = low.input(op, "Input").variable
    rows, columns = _sizes(op, x.shape)
    diagonal = _among_zeros(low, x, np.eye(rows, columns, int(op.attr("offset"))))
    low.give(op, "Out", low.op("reduce_sum", {"dim": None, "keep_dim": False}, X=diagonal), ())


@lowered_if("diag_embed")
def _is_plain(op: Operator) -> bool:
    x = op.block._var_recursive(op.input("Input")[0])
    last = {len(x.shape) - 1, len(x.shape)}
    axes = {op.attr(name) % (len(x.shape) + 1) for name in ("dim1", "dim2")}
    return x.shape[-1] > 0 and not op.attr("offset") and axes == last


@lowers("diag_embed", offset=0, dim1=-2, dim2=-1)
def _diag_embed(low: Lowering, op: Operator) -> None:
    """On the main diagonal of the last two axes; elsewhere it is a formula (diagonals.py). In a line, all of
    a matrix, n zeros stand between two elements of its diagonal."""
    x = low.input(op, "Input").variable
    *before, size = x.shape
    rank = len(x.shape)
    column = low.op("unsqueeze", {"axes": (rank,)}, X=x)
    around = ((0, 0),) * rank + ((0, size),)
    rows = low.op("pad", {"paddings": around, "value": 0.0}, X=column)
    line = in_shape(low, rows, (*before, size * (size + 1)), x)
    cut = {"axes": (rank - 1,), "starts": (0,), "ends": (size * size,)}
    low.give(op, "Out", in_shape(low, low.op("slice", cut, X=line), (*before, size, size), x))


@lowers("diag_v2", offset=0, padding_value=0.0)
def _diag(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    if op.attr("offset") or op.attr("padding_value"):
        raise BadProgram("operator 'diag_v2': only the main diagonal, among zeros, is in this release")
    sizes = _sizes(op, x.shape)
    chosen = _among_zeros(low, x, np.eye(sizes[0], sizes[-1]))
    if len(sizes) == 1:
        low.give(op, "Out", chosen, ())
        return
    kept = low.op("reduce_sum", {"dim": 1, "keep_dim": False}, X=chosen)
    low.give(op, "Out", low.op("slice", {"axes": (0,), "starts": (0,), "ends": (min(sizes),)}, X=kept), ())


@lowers("diag")
def _diag_of_a_row(low: Lowering, op: Operator) -> None:
    """As models of 1.8 have it."""
    x = low.input(op, "Diagonal").variable
    (size,) = _sizes(op, x.shape)
    low.give(op, "Out", _among_zeros(low, x, np.eye(size)), ())


@lowers("eye", num_rows=0, num_columns=-1, dtype=int(VarType.FP32))
def _eye(low: Lowering, op: Operator) -> None:
    """As models of 1.8 have it."""
    rows, columns, kind = op.attr("num_rows"), op.attr("num_columns"), dtype_of(op.attr("dtype"))
    ones = low.op("fill_constant", {"shape": (1,), "value": 1, "dtype": engine_dtype(kind)})
    out = _among_zeros(low, ones, np.eye(rows, columns if columns > 0 else rows))
    low.give(op, "Out", out, (), dtype=kind)


def _rolls(op: Operator, rank: int) -> list[tuple[int, int]]:
    """Axes, and by how much: without axes by all elements in their order. 1.8 calls axes ``dims``."""
    axes = [int(axis) % rank for axis in op.attrs.get("dims", op.attr("axis"))]
    return list(zip(axes or [0], map(int, op.attr("shifts")), strict=True))


@lowered_if("roll")
def _is_of_known_sizes(op: Operator) -> bool:
    shape = op.block._var_recursive(op.input("X")[0]).shape
    told = list(op.attrs.get("dims", op.attr("axis")))
    return all(shape[axis] >= 0 for axis in told) if told else min(shape, default=0) >= 0


@lowers("roll", shifts=(), axis=())
def _roll(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    is_flat = not op.attrs.get("dims", op.attr("axis"))
    out = low.op("reshape", {"shape": (-1,)}, X=x) if is_flat else x
    for axis, shift in _rolls(op, len(out.shape)):
        size = out.shape[axis]
        cut = (size - shift) % size
        ends = [
            low.op("slice", {"axes": (axis,), "starts": (a,), "ends": (b,)}, X=out)
            for a, b in ((cut, size), (0, cut))
            if a < b
        ]
        out = ends[0] if len(ends) == 1 else low.op("concat", {"axis": axis}, X=ends)
    low.give(op, "Out", in_shape(low, out, x.shape, x) if is_flat else out)


@lowers("meshgrid")
def _meshgrid(low: Lowering, op: Operator) -> None:
    vectors = [each.variable for each in low.inputs(op, "X")]
    whole = _sizes(op, tuple(each.shape[0] for each in vectors))
    for at, each in enumerate(vectors):
        line = tuple(size if axis == at else 1 for axis, size in enumerate(whole))
        lined = low.op("reshape", {"shape": line}, X=each)
        ones = low.op("fill_constant", {"shape": whole, "value": 1, "dtype": each.dtype})
        low.give(op, "Out", low.op("elementwise_mul", X=ones, Y=lined), (), index=at)


def _float(low: Lowering, op: Operator) -> EngineVariable:
    return low.input(op, "Input").variable


def _says(slot: str, like: str, shape: Any, dtype: Any = None) -> Any:
    """What a host operator gives: of ``shape``, a function of the input's."""

    def infer(op: Operator) -> None:
        source = op.block._var_recursive(op.input(like)[0])
        for name in op.output(slot):
            described = op.block._var_recursive(name)
            described.shape, described.dtype = shape(source.shape), source.dtype if dtype is None else dtype

    return infer


@hosts("masked_select", infer=_says("Y", "X", lambda shape: (-1,)))
def _masked_select(host: Host, op: Operator) -> None:
    """What is chosen in both, each as wide as the other."""
    x, mask = np.asarray(host.input(op, "X")), np.asarray(host.input(op, "Mask")).astype(bool)
    sizes = np.broadcast_shapes(x.shape, mask.shape)
    host.give(op, "Y", np.broadcast_to(x, sizes)[np.broadcast_to(mask, sizes)])


@hosts("bernoulli", infer=_says("Out", "X", lambda shape: shape))
def _bernoulli(host: Host, op: Operator) -> None:
    chance = np.asarray(host.input(op, "X"))
    drawn = drawing(host, op).random(chance.shape, np.float32) < chance
    host.give(op, "Out", drawn.astype(chance.dtype))


def _of_permutation(op: Operator) -> None:
    described = op.block._var_recursive(op.output("Out")[0])
    described.shape, described.dtype = (int(op.attr("n")),), op.attr("dtype")


@hosts("randperm", infer=_of_permutation, n=1, seed=0, dtype=int(VarType.INT64))
def _randperm(host: Host, op: Operator) -> None:
    host.give(op, "Out", drawing(host, op).permutation(op.attr("n")).astype(numpy_dtype(op.attr("dtype"))))


def _of_values(op: Operator) -> None:
    source, axis = op.block._var_recursive(op.input("X")[0]), op.attr("axis")
    for slot in op.outputs:
        for name in op.output(slot):
            described = op.block._var_recursive(name)
            described.shape = (-1,)
            described.dtype = source.dtype if slot == "Out" else op.attrs.get("dtype", VarType.INT64)
            if axis and slot == "Out":
                at = axis[0] % len(source.shape)
                described.shape = (*source.shape[:at], -1, *source.shape[at + 1 :])


@hosts("unique", infer=_of_values, axis=(), return_index=False, return_inverse=False, return_counts=False)
def _unique(host: Host, op: Operator) -> None:
    if "dtype" in op.attrs and not op.attrs.get("is_sorted"):  # as 1.8 writes it
        _give_as_met(host, op)
        return
    axis = op.attr("axis")[0] if op.attr("axis") else None
    found = np.unique(np.asarray(host.input(op, "X")), True, True, True, axis=axis)
    for slot, value in zip(("Out", "Indices", "Index", "Counts"), found, strict=True):
        if op.outputs.get(slot):
            host.give(op, slot, value if slot == "Out" else value.reshape(-1))


def _of_met(op: Operator) -> None:
    source = op.block._var_recursive(op.input("X")[0])
    for slot in op.outputs:
        described = op.block._var_recursive(op.output(slot)[0])
        described.shape = source.shape if slot == "Index" else (-1,)
        described.dtype = source.dtype if slot == "Out" else dtype_of(op.attr("dtype"))


@hosts("unique_with_counts", infer=_of_met, dtype=int(VarType.INT32))
def _give_as_met(host: Host, op: Operator) -> None:
    """Values in the order in which they come first, which of them each is and, if asked, how often it is."""
    values, first, index, counts = np.unique(np.asarray(host.input(op, "X")), True, True, True)
    order = np.argsort(first)
    place = np.argsort(order)
    kind = numpy_dtype(dtype_of(op.attrs["dtype"]))
    host.give(op, "Out", values[order])
    host.give(op, "Index", place[index.reshape(-1)].astype(kind))
    host.give(op, "Count", counts[order].astype(kind))


@hosts("poisson", infer=_says("Out", "X", lambda shape: shape))
def _poisson(host: Host, op: Operator) -> None:
    means = np.asarray(host.input(op, "X"))
    host.give(op, "Out", drawing(host, op).poisson(means).astype(means.dtype))


@hosts("dirichlet", infer=_says("Out", "Alpha", lambda shape: shape))
def _dirichlet(host: Host, op: Operator) -> None:
    """Shares along the last axis."""
    weights = np.asarray(host.input(op, "Alpha"))
    drawn = drawing(host, op).standard_gamma(weights)
    host.give(op, "Out", (drawn / drawn.sum(-1, keepdims=True)).astype(weights.dtype))


def _centers_described(op: Operator) -> None:
    label = op.block._var_recursive(op.input("Label")[0])
    if len(label.shape) != 1:
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}): labels are a line, not {list(label.shape)}"
        )
    for slot, shape in (
        ("RemappedLabel", label.shape),
        ("SampledLocalClassCenter", [op.attr("num_samples")]),
    ):
        described = op.block._var_recursive(op.output(slot)[0])
        described.shape, described.dtype, described.stop_gradient = tuple(shape), label.dtype, True


@hosts("class_center_sample", infer=_centers_described, num_classes=1, num_samples=1)
def _class_center_sample(host: Host, op: Operator) -> None:
    """The classes of the labels, in order, then others that are drawn, up to ``num_samples``; and labels as
    places among these."""
    labels, classes = np.asarray(host.input(op, "Label")), int(op.attr("num_classes"))
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise BadProgram(f"class_center_sample: labels are from 0 to {classes - 1}, not {labels.max()}")
    there = np.unique(labels)
    lacking = max(int(op.attr("num_samples")) - len(there), 0)
    place = f"{op.block.idx}:{op.block.place_of(op)}@{host.step}"
    others = generator_for(host.seed, place).permutation(np.setdiff1d(np.arange(classes), there))
    host.give(op, "RemappedLabel", np.searchsorted(there, labels))
    host.give(op, "SampledLocalClassCenter", np.concatenate([there, others[:lacking]]))
