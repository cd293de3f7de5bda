"""What a variable is asked besides the functions of tensors: ``x.dim()``, ``x.item()``, ``x.set_value(...)``.

It must never compute. Guarantee: a value is read and written where an executor's scope keeps it; what is of
computing at once says so by its name.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import NotInThisRelease
from paddle.tensor._append import append
from paddle.tensor.placing import clone
from paddle.tensor.stat import numel

__all__ = [
    *("backward", "clear_gradient", "cpu", "cuda", "detach", "dim", "element_size", "get_value", "gradient"),
    *("item", "ndimension", "numpy", "set_value", "sigmoid", "size"),
]

cpu = cuda = clone


def dim(x: Any) -> int:
    """How many axes x has."""
    return len(x.shape)


ndimension = dim


def sigmoid(x: Any, name: str | None = None) -> Any:
    """1 / (1 + exp(-x)), element by element."""
    return append("sigmoid", {"X": x}, name=name)


def size(x: Any) -> Any:
    """How many elements x has, int64."""
    return numel(x)


def detach(x: Any) -> Any:
    """A copy, through which no gradient goes."""
    return append("assign", {"X": x}, stop_gradient=True)


def element_size(x: Any) -> int:
    """How many bytes an element takes."""
    from paddle._program.description.dtypes import numpy_dtype

    return numpy_dtype(x.dtype).itemsize


def item(x: Any) -> Any:
    """What holds one element, as it is."""
    if len(x.shape) > 1:
        raise TypeError(f"item() is of a variable of one element, and {x.name!r} is {list(x.shape)}")
    return x


def get_value(x: Any, scope: Any = None) -> Any:
    """What ``scope``, or the global one, holds under the variable's name: a LoDTensor."""
    return _held(x, scope, "get_value")


def set_value(x: Any, value: Any, scope: Any = None) -> None:
    """Put an array, or a LoDTensor, of the variable's shape in ``scope``, or the global one."""
    import numpy as np

    from paddle._program.running.lod_tensor import LoDTensor

    if not isinstance(value, (np.ndarray, LoDTensor)):
        raise TypeError(
            f"`value` should be `numpy.ndarray` or `LoDTensor`, but received {type(value)}: a program's "
            f"variable holds nothing while it is written; {x.name!r} is filled by its initializer, or by an "
            "array once the startup program has run"
        )
    held = _held(x, scope, "set_value")
    array = np.asarray(value)
    if tuple(held.shape()) != array.shape:
        raise ValueError(f"{x.name!r} has the shape {list(held.shape())}, and the array {list(array.shape)}")
    held.set(array.astype(np.asarray(held).dtype))


def _held(x: Any, scope: Any, method: str) -> Any:
    from paddle._program.running.scope import global_scope

    found = (scope or global_scope()).find_var(x.name)
    if found is None or not found.is_initialized():
        raise ValueError(
            f"{method}: Can not find Variable '{x.name}' in the Scope: run the startup program in it first"
        )
    return found.get_tensor()


def _at_once(name: str, instead: str) -> Any:
    def method(x: Any, *args: object, **kwargs: object) -> None:
        raise NotInThisRelease(
            f"{x.name!r}.{name}() computes at once (dygraph), and programs are static here: {instead}"
        )

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Of computing at once, which is not in this release."
    return method


numpy = _at_once("numpy", "fetch the variable, exe.run(fetch_list=[...])")
backward = _at_once("backward", "an optimizer's minimize(loss), or paddle.static.append_backward(loss)")
gradient = _at_once("gradient", "paddle.static.gradients, or fetch the name with @GRAD behind it")
clear_gradient = _at_once("clear_gradient", "each run computes its gradients anew")
