"""Python's operators on variables: ``x + y``, ``1 - x``, ``x[:, 0]``, ``x < y``.

Each appends operators of Paddle's to the block that is being written. It must never know how these are
computed, nor a face; what a face has as methods of variables it says by ``methods_by``.

Guarantees: what is beside a variable is taken in the variable's dtype, but a fraction beside whole numbers
makes these fractions. ``==`` compares what two variables hold, or a number; with all else, None and names
among them, it is Python's. So whether a list has a variable is asked by ``is``. Of two variables of which the
right one has fewer axes, 1.x lays that along the first ones if its first size is open, 2.x along the last;
which it is says ``written.now().is_static``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from paddle._program.description import unique_name
from paddle._program.description.dtypes import VarType, dtype_of, is_float
from paddle._program.description.written import now
from paddle._program.errors import BadArgument

Finder = Callable[[str], Callable[..., Any] | None]

_finders: list[Finder] = []


def methods_by(find: Finder) -> None:
    """From now on a variable has the methods that ``find`` knows: of a name the function, or None."""
    if find not in _finders:
        _finders.append(find)


class Arithmetic:
    """What variables derive from."""

    block: Any
    name: str
    dtype: Any
    shape: tuple[int, ...]

    def __getattr__(self, name: str) -> Any:
        for find in () if name.startswith("_") else _finders:
            found = find(name)
            if found is not None:
                return lambda *args, **kwargs: found(self, *args, **kwargs)
        raise AttributeError(f"a variable has no attribute {name!r}", name=name, obj=self)

    def astype(self, dtype: Any) -> Any:
        """The same in another dtype."""
        kind = dtype_of(dtype)
        attrs = {"in_dtype": int(self.dtype), "out_dtype": int(kind)}
        return append(self, "cast", {"X": [self]}, attrs, kind)

    @property
    def T(self) -> Any:  # noqa: N802  Paddle's name
        """The same with its axes the other way round."""
        order = list(range(len(self.shape)))[::-1]
        return append(self, "transpose2", {"X": [self]}, {"axis": order}, self.dtype)

    def __neg__(self) -> Any:
        return _scaled(self, -1.0, 0.0)

    def __add__(self, other: Any) -> Any:
        return _scaled(self, 1.0, other) if _is_number(other) else _binary("elementwise_add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _scaled(self, 1.0, -other) if _is_number(other) else _binary("elementwise_sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _scaled(self, -1.0, other) if _is_number(other) else _binary("elementwise_sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _scaled(self, other, 0.0) if _is_number(other) else _binary("elementwise_mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if _is_number(other) and is_float(self.dtype):
            return _scaled(self, 1.0 / other, 0.0)
        return _binary("elementwise_div", _divided(self), other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("elementwise_div", other, _divided(self))

    def __pow__(self, other: Any) -> Any:
        if _is_number(other) and is_float(self.dtype):
            unique_name.generate(_KEY)  # of the number, which the original makes a variable of
            return append(self, "pow", {"X": [self]}, {"factor": float(other)}, self.dtype)
        return _binary("elementwise_pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("elementwise_pow", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _binary("elementwise_floordiv", self, other)

    def __mod__(self, other: Any) -> Any:
        return _binary("elementwise_mod", self, other)

    def __matmul__(self, other: Any) -> Any:
        attrs = {"trans_x": False, "trans_y": False}
        return append(self, "matmul_v2", {"X": [self], "Y": [other]}, attrs, self.dtype)

    def __eq__(self, other: Any) -> Any:
        return _binary("equal", self, other, VarType.BOOL)

    def __ne__(self, other: Any) -> Any:
        return _binary("not_equal", self, other, VarType.BOOL)

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Any:
        return _binary("less_than", self, other, VarType.BOOL)

    def __le__(self, other: Any) -> Any:
        return _binary("less_equal", self, other, VarType.BOOL)

    def __gt__(self, other: Any) -> Any:
        return _binary("greater_than", self, other, VarType.BOOL)

    def __ge__(self, other: Any) -> Any:
        return _binary("greater_equal", self, other, VarType.BOOL)

    def __and__(self, other: Any) -> Any:
        return _signed("__and__", self, other)

    def __or__(self, other: Any) -> Any:
        return _signed("__or__", self, other)

    def __xor__(self, other: Any) -> Any:
        return _signed("__xor__", self, other)

    def __invert__(self) -> Any:
        found = _signed("__invert__", self)
        if found is NotImplemented:
            raise TypeError(f"~ of variable {self.name!r} is of programs of 2.x: paddle.enable_static()")
        return found

    def __getitem__(self, item: Any) -> Any:
        items = item if isinstance(item, tuple) else (item,)
        if any(isinstance(each, (Arithmetic, list, np.ndarray)) for each in items):
            found = _signed("__getitem__", self, items)
            if found is not NotImplemented:
                return found
        from paddle._program.description.indexing import part

        return part(self, items)

    def __setitem__(self, item: Any, value: Any) -> None:
        if not now().is_static:
            raise BadArgument(
                f"variable {self.name!r} holds nothing while a program is written, so nothing is put in it: "
                "where, put_along_axis, index_put and scatter give what it would be"
            )
        from paddle._program.description.putting import put

        put(self, item if isinstance(item, tuple) else (item,), value)

    def __iter__(self) -> Any:
        if now().is_static:
            return _signed("__iter__", self)
        raise BadArgument(
            f"variable {self.name!r} holds nothing while a program is written: to have its rows apart, "
            "unstack or split it"
        )


def _signed(sign: str, x: Any, *others: Any) -> Any:
    """What a face of 2.x has for one of Python's signs."""
    for find in _finders if now().is_static else ():
        found = find(sign)
        if found is not None:
            return found(x, *others)
    return NotImplemented


def _is_number(value: Any) -> bool:
    return isinstance(value, (Number, np.generic)) and not isinstance(value, bool)


def append(near: Any, type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], dtype: Any) -> Any:
    """What an operator gives that is appended to the block that is being written, of ``near``'s program."""
    block = near.block.program.current_block()
    key = f"{near.name}_{type}" if type in _OF_PARTS else f"{type}.tmp" if type in _WITH_SHAPES else _KEY
    made = block.create_var(unique_name.generate(key), dtype=dtype)
    outputs = {_OUT.get(type, "Out"): [made]}
    if type in _WITH_SHAPES:
        outputs["XShape"] = [block.create_var(unique_name.generate(key), dtype=dtype)]
    block.append_op(type, inputs=dict(inputs), outputs=outputs, attrs=dict(attrs))
    return made


_OUT = {"stack": "Y", "masked_select": "Y"}
_WITH_SHAPES = frozenset({"squeeze2", "transpose2", "unsqueeze2"})
_OF_PARTS = frozenset({"slice", "strided_slice"})
_KEY = "tmp"  # by which the original counts what arithmetic gives


def _scaled(x: Any, scale: Any, bias: Any) -> Any:
    x = _beside(_beside(x, scale), bias)
    attrs = {"scale": float(scale), "bias": float(bias), "bias_after_scale": True}
    return append(x, "scale", {"X": [x]}, attrs, x.dtype)


def _divided(x: Any) -> Any:
    """What is to be divided, or to divide: in 2.x whole numbers give fractions."""
    return x if is_float(x.dtype) or not now().is_static else x.astype(VarType.FP32)


def _beside(x: Any, number: Any) -> Any:
    """A variable as it is beside a number."""
    is_fraction = isinstance(number, (float, np.floating)) and not float(number).is_integer()
    return x.astype(VarType.FP32) if is_fraction and not is_float(x.dtype) else x


def _binary(type: str, x: Any, y: Any, dtype: Any = None) -> Any:
    """``type`` of two of which one is a variable; the smaller one is broadcast."""
    if _is_number(x) or isinstance(x, bool):
        y = _beside(y, x)
        x = _constant(y, x)
    elif _is_number(y) or isinstance(y, bool):
        x = _beside(x, y)
        y = _constant(x, y)
    elif not (isinstance(x, Arithmetic) and isinstance(y, Arithmetic)):
        return NotImplemented
    elif x.dtype != y.dtype:
        y = y.astype(x.dtype)
    is_along_first = not now().is_static and y.shape[:1] == (-1,) and len(y.shape) < len(x.shape)
    attrs = {"axis": 0 if is_along_first else -1}
    return append(x, type, {"X": [x], "Y": [y]}, attrs, x.dtype if dtype is None else dtype)


def _constant(like: Any, value: Any) -> Any:
    shape = [1] if like.shape or not like.has_shape else []  # what has no axes has none beside a number
    attrs = {"shape": shape, "value": float(value), "dtype": int(like.dtype)}
    return append(like, "fill_constant", {}, attrs, like.dtype)
