"""What a layer takes is what its signature says: who gives anything else is told so, by the argument's name.

It must never know what a layer computes. Guarantee: what is refused is told before anything is appended, as
a BadArgument that names layer and argument, what is taken there and what was given. Numbers of numpy's, one
alone or in an array of one, are taken as Python's. An alternative of a signature that is none of those here
takes anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np

from paddle._complaint import tell_uncaught
from paddle._program.description.dtypes import dtype_of, numpy_dtype
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument

Layer = TypeVar("Layer", bound=Callable[..., Any])
Taken = Callable[[Any], Any]
"""What is handed on of a value, or ``_REFUSED``."""

_REFUSED: Any = object()


@dataclass(frozen=True)
class Wanted:
    """What a layer wants beside its signature. ``dtypes``: of arguments that are variables, or name a dtype;
    ``axes``: how many a variable has, at the least and the most; ``alike``: arguments with as many axes;
    ``positive``: arguments that are 1 or more; ``within``: an argument that is an axis of another, or of so
    many more; ``fits``: refuses arguments, defaults among them, that do not fit each other."""

    dtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    axes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    alike: Sequence[str] = ()
    positive: Collection[str] = ()
    within: tuple[str, str, int] | None = None
    fits: Callable[[str, Mapping[str, Any]], None] | None = None


def checked(layer: Layer, wanted: Wanted = Wanted()) -> Layer:
    """The same layer, whose arguments are checked."""
    known, name = signature(layer), layer.__qualname__.removesuffix(".__init__")
    defaults = {each.name: each.default for each in known.parameters.values()}
    checks = {each.name: _Check(name, each, wanted) for each in known.parameters.values()}

    @wraps(layer)
    def call(*args: Any, **kwargs: Any) -> Any:
        tell_uncaught()
        try:
            bound = known.bind(*args, **kwargs)
        except TypeError:
            return layer(*args, **kwargs)  # Python says what this call lacks, or has too much
        for argument, value in bound.arguments.items():
            bound.arguments[argument] = checks[argument].taken(value)
        _check_alike(name, {each: bound.arguments.get(each) for each in wanted.alike})
        if wanted.within is not None:
            _check_within(name, wanted.within, bound.arguments)
        if wanted.fits is not None and all(map(_is_shaped, bound.arguments.values())):
            wanted.fits(name, {**defaults, **bound.arguments})
        return layer(*bound.args, **bound.kwargs)

    return cast("Layer", call)


def _is_shaped(value: Any) -> bool:
    return not isinstance(value, Variable) or value.has_shape


class _Check:
    """What one argument takes."""

    def __init__(self, layer: str, parameter: Parameter, wanted: Wanted) -> None:
        name = parameter.name
        self._place, self._default = f"{layer}: {name}", parameter.default
        self._dtypes, self._axes = wanted.dtypes.get(name, ()), wanted.axes.get(name)
        self._is_positive = name in wanted.positive
        alternatives = _alternatives(str(parameter.annotation))
        several = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        is_open = several or not set(alternatives) <= set(_KINDS)
        self._kinds = {} if is_open else {_KINDS[each][0]: _KINDS[each][1] for each in alternatives}
        self._is_dtype = name == "dtype"

    def taken(self, given: Any) -> Any:
        """What the layer is handed."""
        if given is self._default:
            return given
        if given is None and isinstance(self._default, int | float | str):
            return self._default  # as an operator's attribute that is None is one that is not told
        if self._is_dtype:
            self._check_dtype(given, "")
            return given
        value = self._fitting(given)
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, Variable):
                self._check_variable(each)
            elif self._is_positive and isinstance(each, Integral) and each < 1:
                raise BadArgument(f"{self._place} is 1 or more, not {each}")
        return value

    def _check_variable(self, given: Variable) -> None:
        if self._dtypes and given.has_dtype:
            self._check_dtype(given.dtype, " fluid.layers.cast makes one of another.")
        if self._axes is None or not given.has_shape:
            return
        least, most = self._axes
        if not least <= given.ndim <= most:
            count = least if least == most else f"{least} or more" if most > _MANY else f"{least} to {most}"
            raise BadArgument(
                f"{self._place} has {count} axes, and {given.name!r} has the shape {given.shape}"
            )

    def _fitting(self, given: Any) -> Any:
        for take in self._kinds.values():
            if (value := take(given)) is not _REFUSED:
                return value
        if not self._kinds:
            return given
        said = " or ".join(each for each in self._kinds if each)
        is_data = isinstance(given, np.ndarray | int | float | list) and said.startswith("a Variable")
        hint = ": fluid.layers.assign makes one of numbers" if is_data else ""
        shown = f"the Variable {given.name!r}" if isinstance(given, Variable) else f"{given!r:.60}"
        raise BadArgument(f"{self._place} is {said}, not {shown}{hint}")

    def _check_dtype(self, given: Any, hint: str) -> None:
        try:
            found = "None" if given is None else str(numpy_dtype(dtype_of(given)))
        except ValueError as error:
            raise BadArgument(f"{self._place}: {error}") from None
        if found not in (self._dtypes or _DTYPES):
            known = ", ".join(self._dtypes or _DTYPES)
            raise BadArgument(f"{self._place} is of {known}, and not of {found}.{hint}")


def _check_alike(layer: str, given: Mapping[str, Any]) -> None:
    """Raise where some are columns and others are rows, which would be spread over each other."""
    shapes = {
        name: each.shape for name, each in given.items() if isinstance(each, Variable) and each.has_shape
    }
    if len({len(shape) for shape in shapes.values()}) > 1:
        told = " and ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise BadArgument(
            f"{layer}: {' and '.join(shapes)} have as many axes as each other, not the shapes of {told}"
        )


def _check_within(layer: str, within: tuple[str, str, int], given: Mapping[str, Any]) -> None:
    """Raise where there is no such axis."""
    argument, of, more = within
    axis, several = given.get(argument), given[of]
    first = several[0] if isinstance(several, list | tuple) else several
    if not isinstance(axis, int) or not first.has_shape:
        return
    if not -(first.ndim + more) <= axis < first.ndim + more:
        raise BadArgument(
            f"{layer}: {argument} is one of {first.ndim + more} axes, not {axis}, where {of} has the shape "
            f"{first.shape}"
        )


_MANY = 9
_DTYPES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")


def _alternatives(annotation: str) -> list[str]:
    """``A | B[C | D]`` is A, and B[C | D]."""
    found = re.findall(r"[\w.]+(?:\[.*?\](?=\s*(?:\||$)))?", annotation)
    return ["Callable" if each.startswith("Callable") else each for each in found]


def _alone(value: Any) -> Any:
    """A number of numpy's as one of Python's."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size == 1):
        return value.item()
    return value


def _number(value: Any) -> Any:
    value = _alone(value)
    return value if isinstance(value, Real) else _REFUSED


def _whole(value: Any) -> Any:
    value = _alone(value)
    return value if isinstance(value, Integral) else _REFUSED


def _size(value: Any) -> Any:
    """A whole number, as a division may give it."""
    value = _alone(value)
    return int(value) if isinstance(value, float) and value.is_integer() else _whole(value)


def _size_or_any(value: Any) -> Any:
    return value if value is None else _size(value)


def _truth(value: Any) -> Any:
    value = _alone(value)
    return bool(value) if isinstance(value, int) else _REFUSED


def _one(*kinds: type) -> Taken:
    return lambda value: value if isinstance(value, kinds) else _REFUSED


def _nothing(value: Any) -> Any:
    return value if value is None else _REFUSED


def _callable(value: Any) -> Any:
    return value if callable(value) else _REFUSED


_INTEGERS = ("int32", "int64")


def _computed(value: Variable) -> Any:
    """A variable that says sizes or places."""
    return value if str(numpy_dtype(value.dtype)) in _INTEGERS else _REFUSED


def _each(take: Taken) -> Taken:
    """Of several, each such one, or a variable of integers that a run computes; or one variable for all."""

    def several(value: Any) -> Any:
        if isinstance(value, Variable):
            return _computed(value)
        if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or np.ndim(value) != 1:
            return _REFUSED
        found = [_computed(each) if isinstance(each, Variable) else take(each) for each in value]
        return _REFUSED if any(each is _REFUSED for each in found) else found

    return several


def _variables(value: Any) -> Any:
    several = [value] if isinstance(value, Variable) else value
    if not isinstance(several, list | tuple) or not several:
        return _REFUSED
    return value if all(isinstance(each, Variable) for each in several) else _REFUSED


_SIDES = "a whole number or a list of them"
_KINDS: dict[str, tuple[str, Taken]] = {
    "None": ("", _nothing),
    "Variable": ("a Variable of the program", _one(Variable)),
    "Sequence[Variable]": ("a list of Variables of the program", _variables),
    "int": ("a whole number", _whole),
    "float": ("a number", _number),
    "bool": ("True or False", _truth),
    "str": ("a text", _one(str)),
    "Mapping[str, Any]": ("attributes by name", _one(Mapping)),
    "Callable": ("a function", _callable),
    "Sequence[int]": ("a list of whole numbers", _each(_size)),
    "Sequence[int | None]": ("a list of sizes", _each(_size_or_any)),
    "Sequence[float]": ("a list of numbers", _each(_number)),
    "Sides": (_SIDES, lambda value: _each(_size)(value) if _whole(value) is _REFUSED else _whole(value)),
}
"""By how signatures spell them: what is said of it, and what takes it."""
