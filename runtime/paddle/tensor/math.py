"""Arithmetic of tensors: ``paddle.add`` and its family.

It must never compute: each function appends an operator to the default program. Guarantee: of two tensors
either is broadcast to the other, from the last axis on; a number stands for a tensor that is full of it.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from paddle._program.description.dtypes import VarType, is_float
from paddle._program.description.variable import Variable
from paddle.tensor._append import append, axes_of, variable_of

__all__ = [
    *("abs", "acos", "add", "add_n", "all", "any", "asin", "atan", "ceil", "clip", "cos", "cosh", "cumsum"),
    *(
        "divide",
        "erf",
        "exp",
        "floor",
        "floor_divide",
        "floor_mod",
        "increment",
        "isfinite",
        "isinf",
        "isnan",
    ),
    *(
        "kron",
        "log",
        "log10",
        "log1p",
        "log2",
        "logsumexp",
        "max",
        "maximum",
        "min",
        "minimum",
        "mod",
        "multiplex",
    ),
    *("multiply", "neg", "pow", "prod", "reciprocal", "remainder", "round", "rsqrt", "scale", "sign", "sin"),
    *("sinh", "sqrt", "square", "stanh", "subtract", "sum", "tan", "tanh", "trace"),
]

Function = Callable[..., Any]


def _binary(name: str, type: str, says: str) -> Function:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, Number):
            x = variable_of(x, y)
        return append(type, {"X": x, "Y": variable_of(y, x)}, {"axis": -1}, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{says}, element by element."
    return function


def _unary(type: str, says: str) -> Function:
    def function(x: Any, name: str | None = None) -> Any:
        return append(type, {"X": x}, name=name)

    function.__name__ = function.__qualname__ = type
    function.__doc__ = f"{says}, element by element."
    return function


add = _binary("add", "elementwise_add", "x + y")
subtract = _binary("subtract", "elementwise_sub", "x - y")
multiply = _binary("multiply", "elementwise_mul", "x * y")
divide = _binary("divide", "elementwise_div", "x / y")
floor_divide = _binary("floor_divide", "elementwise_floordiv", "x // y")
remainder = _binary("remainder", "elementwise_mod", "What x leaves when it is divided by y")
mod = floor_mod = remainder
maximum = _binary("maximum", "elementwise_max", "The larger of x and y")
minimum = _binary("minimum", "elementwise_min", "The smaller of x and y")

abs = _unary("abs", "x without its sign")
acos = _unary("acos", "The angle with this cosine")
asin = _unary("asin", "The angle with this sine")
atan = _unary("atan", "The angle with this tangent")
ceil = _unary("ceil", "x rounded up")
cos = _unary("cos", "Cosine")
cosh = _unary("cosh", "Hyperbolic cosine")
erf = _unary("erf", "The error function")
floor = _unary("floor", "x rounded down")
log = _unary("log", "Natural logarithm")
log2 = _unary("log2", "Logarithm to the base 2")
log10 = _unary("log10", "Logarithm to the base 10")
log1p = _unary("log1p", "log(1 + x)")
reciprocal = _unary("reciprocal", "1 / x")
round = _unary("round", "The nearest whole number")
rsqrt = _unary("rsqrt", "1 / sqrt(x)")
sign = _unary("sign", "-1, 0 or 1")
sin = _unary("sin", "Sine")
sinh = _unary("sinh", "Hyperbolic sine")
sqrt = _unary("sqrt", "Square root")
square = _unary("square", "x * x")
tan = _unary("tan", "Tangent")
tanh = _unary("tanh", "Hyperbolic tangent")


def exp(x: Any, name: str | None = None) -> Any:
    """e ** x, element by element: a floating number of a whole one, too."""
    from paddle.tensor.manipulation import cast

    is_whole = isinstance(x, Variable) and not is_float(x.dtype)
    return append("exp", {"X": cast(x, "float32") if is_whole else x}, name=name)


def neg(x: Any, name: str | None = None) -> Any:
    """-x."""
    return scale(x, scale=-1.0, name=name)


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """x ** y, where y is a number or a tensor."""
    if isinstance(y, Number):
        return append("pow", {"X": x}, {"factor": float(y)}, name=name)  # type: ignore[arg-type]
    return append("elementwise_pow", {"X": x, "Y": y}, {"axis": -1}, name=name)


def scale(
    x: Any,
    scale: Any = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """x * scale + bias; (x + bias) * scale unless ``bias_after_scale``. ``scale``: a number or a tensor."""
    tensor = None if isinstance(scale, Number) else scale
    attrs = {"bias": float(bias), "bias_after_scale": bool(bias_after_scale)}
    if tensor is None:
        attrs["scale"] = float(scale)
    found = append("scale", {"X": x, "ScaleTensor": tensor}, attrs, name=name)
    return append(act, {"X": found}) if act else found


def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """scale_b * tanh(scale_a * x)."""
    return append("stanh", {"X": x}, {"scale_a": scale_a, "scale_b": scale_b}, name=name)


def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Any:
    """x between ``min`` and ``max``: numbers, or tensors of one."""
    computed = {slot: each for slot, each in (("Min", min), ("Max", max)) if isinstance(each, Variable)}
    lowest = -3.4028234663852886e38 if min is None or "Min" in computed else float(min)
    highest = 3.4028234663852886e38 if max is None or "Max" in computed else float(max)
    return append("clip", {"X": x, **computed}, {"min": lowest, "max": highest}, name=name)


def increment(x: Any, value: float = 1.0, name: str | None = None) -> Any:
    """Adds ``value`` to ``x`` itself, which holds one number."""
    return append("increment", {"X": x}, {"step": float(value)}, into=x, name=name)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of several tensors of one shape."""
    return append("sum", {"X": inputs}, name=name)


def multiplex(inputs: Any, index: Any, name: str | None = None) -> Any:
    """Row i is row i of the tensor that index[i] names."""
    return append("multiplex", {"X": inputs, "Ids": index}, name=name, dtype=inputs[0].dtype)


def _reduced(type: str, x: Any, axis: Any, keepdim: bool, name: str | None, dtype: Any = None) -> Any:
    every = axis is None or (isinstance(axis, (list, tuple)) and not len(axis))
    attrs = {"dim": [0] if every else axes_of(axis), "keep_dim": bool(keepdim), "reduce_all": every}
    return append(type, {"X": x}, attrs, dtype=dtype, name=name)


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The sum along ``axis`` (one or several), of all elements if None; of truths how many are true. What is
    narrower than int64 is summed as such."""
    dtype = "int64" if dtype is None and x.dtype in (VarType.BOOL, VarType.INT32) else dtype
    if dtype is not None:
        from paddle.tensor.manipulation import cast

        x = cast(x, dtype)
    return _reduced("reduce_sum", x, axis, keepdim, name)


def max(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The largest along ``axis``."""
    return _reduced("reduce_max", x, axis, keepdim, name)


def min(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The smallest along ``axis``."""
    return _reduced("reduce_min", x, axis, keepdim, name)


def prod(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, name: str | None = None) -> Any:
    """The product along ``axis``."""
    if dtype is not None:
        from paddle.tensor.manipulation import cast

        x = cast(x, dtype)
    return _reduced("reduce_prod", x, axis, keepdim, name)


def all(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Whether all are true along ``axis``."""
    return _reduced("reduce_all", x, axis, keepdim, name, "bool")


def any(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Whether one at least is true along ``axis``."""
    return _reduced("reduce_any", x, axis, keepdim, name, "bool")


def logsumexp(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """log(sum(exp(x))) along ``axis``, computed so that no exp is too large."""
    largest = max(x, axis, keepdim=True)
    largest.stop_gradient = True
    total = log(sum(exp(subtract(x, largest)), axis, keepdim=True))
    found = add(total, largest)
    return found if keepdim else sum(found, axis, name=name)  # each sum is of one element


def cumsum(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """Sums of all up to each element along ``axis``; of the flat tensor if None."""
    if dtype is not None:
        from paddle.tensor.manipulation import cast

        x = cast(x, dtype)
    attrs = {"axis": -1, "flatten": True} if axis is None else {"axis": axis}
    return append("cumsum", {"X": x}, attrs, name=name)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """The sum of a diagonal."""
    if len(x.shape) != 2 or -1 in x.shape:
        from paddle.tensor.diagonals import diagonal

        return _reduced("reduce_sum", diagonal(x, offset, axis1, axis2), -1, False, name)
    attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
    return append("trace", {"Input": x}, attrs, name=name)


def kron(x: Any, y: Any, name: str | None = None) -> Any:
    """Kronecker's product."""
    return append("kron", {"X": x, "Y": y}, name=name)


def isfinite(x: Any, name: str | None = None) -> Any:
    """Whether each element is a number."""
    return append("isfinite_v2", {"X": x}, dtype="bool", name=name)


def isinf(x: Any, name: str | None = None) -> Any:
    """Whether each element is infinite."""
    return append("isinf_v2", {"X": x}, dtype="bool", name=name)


def isnan(x: Any, name: str | None = None) -> Any:
    """Whether each element is no number."""
    return append("isnan_v2", {"X": x}, dtype="bool", name=name)
