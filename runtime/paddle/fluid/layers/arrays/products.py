"""Layers of products: of matrices, vectors and all elements; and sums of powers and of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import dtype_of, is_float
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended
from paddle.fluid.layers.arithmetic import elementwise_add, elementwise_mul, reduce_sum
from paddle.fluid.layers.ops import exp
from paddle.fluid.layers.tensor import assign

__all__ = [
    "addcmul",
    "addmm",
    "bmm",
    "cross",
    "dist",
    "dot",
    "fsp_matrix",
    "kron",
    "log_softmax",
    "logsumexp",
]


def addcmul(
    input: Variable,
    tensor1: Variable,
    tensor2: Variable,
    value: float = 1.0,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """``input`` and so many times the product of two others, element by element; in ``out``, if told.
    ``value`` is a whole number where ``input`` holds such."""
    if isinstance(value, int) == is_float(input.dtype):
        wanted = "a number with a point" if is_float(input.dtype) else "a whole number"
        raise BadArgument(f"addcmul: value is {wanted}, as input is, not {value!r}")
    found = elementwise_add(input, elementwise_mul(tensor1, tensor2) * value)
    return found if out is None else assign(found, out)


def addmm(
    input: Variable, x: Variable, y: Variable, alpha: float = 1.0, beta: float = 1.0, name: str | None = None
) -> Variable:
    """``beta`` times ``input``, which may be one row or column, and ``alpha`` times a product of matrices."""
    attrs = {"Alpha": alpha, "Beta": beta}
    return appended("addmm", {"Input": input, "X": x, "Y": y}, attrs, name=name)


def bmm(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """The products of two batches of matrices."""
    return appended("bmm", {"X": x, "Y": y}, name=name)


def cross(input: Variable, other: Variable, dim: int | None = None) -> Variable:
    """What stands at right angles to both, along an axis of size 3: the first there is, if ``dim`` is None.
    A ``dim`` of 0 is taken as None, as in 1.8."""
    return appended("cross", {"X": input, "Y": other}, {"dim": dim} if dim else {})


def dist(x: Variable, y: Variable, p: float = 2) -> Variable:
    """The ``p`` norm of x - y: how many differ if 0, the greatest difference if infinite."""
    return appended("dist", {"X": x, "Y": y}, {"p": float(p)})


def dot(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """The inner products along the last axis, which stays with size 1."""
    helper = LayerHelper("dot", name=name)
    out = named(helper, x.dtype, name)
    helper.append_op("dot", {"X": x, "Y": y}, {"Out": [out]})
    return out


def named(helper: LayerHelper, dtype: Any, name: str | None) -> Variable:
    """A variable that is called as the layer is, where this was told; else as any other."""
    if name is None:
        return helper.create_variable_for_type_inference(dtype)
    return helper.create_variable(name=name, dtype=dtype)


def fsp_matrix(x: Variable, y: Variable) -> Variable:
    """Of images of one size the mean product of each channel with each of another's."""
    helper = LayerHelper("fsp_matrix")
    out = helper.create_variable_for_type_inference(x.dtype)
    helper.append_op("fsp", {"X": x, "Y": y}, {"Out": [out]})
    return out


def kron(x: Variable, y: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """Each element of x times the whole of y, in its place; in ``out``, if told."""
    return appended("kron", {"X": x, "Y": y}, into=out, name=name)


def log_softmax(
    input: Variable, axis: int | None = None, dtype: Any = None, name: str | None = None
) -> Variable:
    """The logarithms of a softmax along an axis, the last if None; of the elements as ``dtype``, if told."""
    helper, x = LayerHelper("log_softmax", name=name), input
    if dtype is not None:
        x = helper.create_variable_for_type_inference(dtype)
        attrs = {"in_dtype": int(input.dtype), "out_dtype": int(dtype_of(dtype))}
        helper.append_op("cast", {"X": [input]}, {"Out": [x]}, attrs)
    shares, out = (helper.create_variable_for_type_inference(x.dtype) for _ in range(2))
    helper.append_op("softmax", {"X": [x]}, {"Out": [shares]}, {"axis": -1 if axis is None else axis})
    helper.append_op("log", {"X": [shares]}, {"Out": [out]})
    return out


def logsumexp(
    x: Variable,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """The logarithm of the sum of exponentials over axes, all if None; in ``out``, if told."""
    if out is not None and out.dtype != x.dtype:
        raise BadArgument(f"logsumexp: out is of x's dtype, {x.dtype.name}, not of {out.dtype.name}")
    return appended("log", {"X": reduce_sum(exp(x), dim, keepdim)}, into=out, name=name)
