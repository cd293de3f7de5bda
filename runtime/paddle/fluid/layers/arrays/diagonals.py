"""Layers of diagonals: put into matrices, summed, and what lies on one side of them."""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended
from paddle.fluid.layers.tensor import assign

__all__ = ["diag_embed", "t", "trace", "tril", "triu"]


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Variable:
    """Matrices, in the axes ``dim1`` and ``dim2``, with the last axis of ``input`` on a diagonal, and 0
    elsewhere. No gradient goes back through it, as in 1.8."""
    x = input if isinstance(input, Variable) else assign(input)
    _check_two("diag_embed", x, x.ndim + 1, dim1, dim2)
    out = appended("diag_embed", {"Input": x}, {"offset": offset, "dim1": dim1, "dim2": dim2})
    out.stop_gradient = True
    return out


def _check_two(layer: str, input: Variable, rank: int, dim1: int, dim2: int) -> None:
    for name, axis in (("dim1", dim1), ("dim2", dim2)):
        if not -rank <= axis < rank:
            raise BadArgument(f"{layer}: {name} is one of {rank} axes, not {axis}: input has {input.shape}")
    if dim1 % rank == dim2 % rank:
        raise BadArgument(f"{layer}: dim1 and dim2 are two axes, and both are {dim1 % rank}")


def t(input: Variable, name: str | None = None) -> Variable:
    """A matrix with its axes in the other order; a line, or one number, as it is."""
    if input.ndim > 2:
        raise BadArgument(f"t: input has 2 axes at the most, not {input.shape}: transpose takes an order")
    if input.ndim < 2:
        return input
    helper = LayerHelper("t", name=name)
    out, shape = (helper.create_variable_for_type_inference(input.dtype) for _ in range(2))
    helper.append_op("transpose2", {"X": [input]}, {"Out": [out], "XShape": [shape]}, {"axis": [1, 0]})
    return out


def trace(
    input: Variable,
    offset: int = 0,
    dim1: int = 0,
    dim2: int = 1,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """The sum of a diagonal of the axes ``dim1`` and ``dim2``; in ``out``, if told."""
    _check_two("trace", input, input.ndim, dim1, dim2)
    attrs = {"offset": offset, "dim1": dim1, "dim2": dim2}
    return appended("trace", {"Input": input}, attrs, into=out, name=name)


def tril(input: Variable, diagonal: int = 0, name: str | None = None) -> Variable:
    """Matrices with 0 above a diagonal."""
    return _side("tril", input, diagonal, name)


def triu(input: Variable, diagonal: int = 0, name: str | None = None) -> Variable:
    """Matrices with 0 below a diagonal."""
    return _side("triu", input, diagonal, name)


def _side(layer: str, input: Variable, diagonal: int, name: str | None) -> Variable:
    helper = LayerHelper(layer, name=name)
    out = helper.create_variable(name=helper.name, dtype=input.dtype)
    helper.append_op(
        "tril_triu", {"X": input}, {"Out": [out]}, {"diagonal": diagonal, "lower": layer == "tril"}
    )
    return out
