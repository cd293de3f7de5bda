"""Arithmetic of variables: of two, of matrices, over axes; bounds, comparisons and logic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended

__all__ = [
    "clip",
    "clip_by_norm",
    "cos_sim",
    "cumsum",
    "elementwise_add",
    "elementwise_div",
    "elementwise_floordiv",
    "elementwise_max",
    "elementwise_min",
    "elementwise_mod",
    "elementwise_mul",
    "elementwise_pow",
    "elementwise_sub",
    "l2_normalize",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "mean",
    "mul",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "scale",
    "sum",
]


def _of_two(type: str, said: str) -> Callable[..., Variable]:
    def layer(
        x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None
    ) -> Variable:
        if axis < -1:
            raise BadArgument(f"{type}: axis is an axis of x, or -1 for the last ones, not {axis}")
        return appended(type, {"X": x, "Y": y}, {"axis": axis}, act=act, name=name)

    layer.__name__ = layer.__qualname__ = type
    layer.__doc__ = f"{said}, element by element. ``y`` lies along the axes of ``x`` from ``axis`` on."
    return layer


elementwise_add = _of_two("elementwise_add", "x + y")
elementwise_sub = _of_two("elementwise_sub", "x - y")
elementwise_mul = _of_two("elementwise_mul", "x * y")
elementwise_div = _of_two("elementwise_div", "x / y")
elementwise_max = _of_two("elementwise_max", "The greater of x and y")
elementwise_min = _of_two("elementwise_min", "The lesser of x and y")
elementwise_pow = _of_two("elementwise_pow", "x to the power of y")
elementwise_mod = _of_two("elementwise_mod", "What is left of x divided by y")
elementwise_floordiv = _of_two("elementwise_floordiv", "How often y is in x")


def _of_truths(type: str) -> Callable[..., Variable]:
    def layer(x: Variable, y: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
        return appended(type, {"X": x, "Y": y}, dtype="bool", into=out, name=name)

    layer.__name__ = layer.__qualname__ = type
    layer.__doc__ = f"``{type}`` of two truth values, element by element."
    return layer


logical_and, logical_or = _of_truths("logical_and"), _of_truths("logical_or")
logical_xor = _of_truths("logical_xor")


def logical_not(x: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """The opposite of each truth value."""
    return appended("logical_not", {"X": x}, dtype="bool", into=out, name=name)


def _over_axes(type: str, said: str, dtype: str | None = None) -> Callable[..., Variable]:
    def layer(
        input: Variable,
        dim: int | Sequence[int] | None = None,
        keep_dim: bool = False,
        name: str | None = None,
    ) -> Variable:
        dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
        whole = not dims or len(dims) == len(input.shape)
        attrs = {"dim": dims or [0], "keep_dim": keep_dim, "reduce_all": whole}
        return appended(type, {"X": input}, attrs, dtype=dtype, name=name)

    layer.__name__ = layer.__qualname__ = type
    layer.__doc__ = f"{said} over some axes, all where ``dim`` is None."
    return layer


reduce_sum, reduce_mean = _over_axes("reduce_sum", "The sum"), _over_axes("reduce_mean", "The mean")
reduce_max, reduce_min = _over_axes("reduce_max", "The greatest"), _over_axes("reduce_min", "The least")
reduce_prod = _over_axes("reduce_prod", "The product")
reduce_all = _over_axes("reduce_all", "Whether each is true", "bool")
reduce_any = _over_axes("reduce_any", "Whether one is true", "bool")


def mean(x: Variable, name: str | None = None) -> Variable:
    """The mean of all elements, of shape (1,)."""
    return appended("mean", {"X": x}, name=name)


def sum(x: Variable | Sequence[Variable]) -> Variable:
    """The sum of variables of one shape."""
    return appended("sum", {"X": x})


def scale(
    x: Variable,
    scale: float | Variable = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """scale * x + bias, or scale * (x + bias)."""
    attrs = {"bias": float(bias), "bias_after_scale": bias_after_scale}
    if isinstance(scale, Variable):
        return appended("scale", {"X": x, "ScaleTensor": scale}, attrs, act=act, name=name)
    return appended("scale", {"X": x}, {"scale": float(scale), **attrs}, act=act, name=name)


def mul(
    x: Variable, y: Variable, x_num_col_dims: int = 1, y_num_col_dims: int = 1, name: str | None = None
) -> Variable:
    """The product of two matrices, whose rows are the first axes of x and of y."""
    attrs = {"x_num_col_dims": x_num_col_dims, "y_num_col_dims": y_num_col_dims}
    return appended("mul", {"X": x, "Y": y}, attrs, name=name)


def matmul(
    x: Variable,
    y: Variable,
    transpose_x: bool = False,
    transpose_y: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> Variable:
    """alpha times the product of the last two axes; axes before are broadcast."""
    attrs = {"transpose_X": transpose_x, "transpose_Y": transpose_y, "alpha": float(alpha)}
    return appended("matmul", {"X": x, "Y": y}, attrs, name=name)


def clip(x: Variable, min: float, max: float, name: str | None = None) -> Variable:
    """Each element, held between two bounds."""
    return appended("clip", {"X": x}, {"min": float(min), "max": float(max)}, into=_called(x, name))


def clip_by_norm(x: Variable, max_norm: float, name: str | None = None) -> Variable:
    """x, made shorter where it is longer than ``max_norm``."""
    return appended("clip_by_norm", {"X": x}, {"max_norm": float(max_norm)}, into=_called(x, name))


def _called(x: Variable, name: str | None) -> Variable | None:
    """What is to hold a result that is called by the very name that a program gives it."""
    return None if name is None else x.block.program.current_block().create_var(name=name, dtype=x.dtype)


def l2_normalize(x: Variable, axis: int | None, epsilon: float = 1e-12, name: str | None = None) -> Variable:
    """x, of length 1 along an axis, the second if None; what has one axis, along that."""
    helper = LayerHelper("l2_normalize", name=name)
    out, norm = (helper.create_variable_for_type_inference(x.dtype) for _ in range(2))
    attrs = {"axis": 0 if len(x.shape) == 1 else 1 if axis is None else axis, "epsilon": epsilon}
    helper.append_op("norm", {"X": x}, {"Out": out, "Norm": norm}, attrs)
    return out


def cos_sim(X: Variable, Y: Variable) -> Variable:
    """The cosine of the angle between each row of X and that of Y, or its only one."""
    from paddle.fluid.layers.appending import several

    return several("cos_sim", {"X": X, "Y": Y}, {"Out": None, "XNorm": None, "YNorm": None})[0]


def cumsum(
    x: Variable, axis: int | None = None, exclusive: bool | None = None, reverse: bool | None = None
) -> Variable:
    """Running sums along an axis, the last one by default."""
    attrs = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    return appended("cumsum", {"X": x}, attrs)
