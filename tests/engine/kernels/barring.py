"""While a twin runs no kernel does: neither what is compiled, nor the Python it was compiled from.

However a twin reaches one, by its name, another name or a closure, it is the same object, and raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from numba.core.dispatcher import Dispatcher

from paddle._engine import kernels

PACKAGE = kernels.__name__


def modules() -> list[ModuleType]:
    """All modules of kernels."""
    return [import_module(each.name) for each in walk_packages(kernels.__path__, PACKAGE + ".")]


@cache
def sources() -> tuple[FunctionType, ...]:
    """The Python of all kernels."""
    found = {
        each.py_func for module in modules() for each in vars(module).values() if isinstance(each, Dispatcher)
    }
    return tuple(found)


def refused(*arguments: Any, **named: Any) -> NoReturn:
    """What a kernel is meanwhile."""
    raise AssertionError("a twin calls a kernel: both would be wrong alike")


@contextmanager
def no_kernels() -> Iterator[None]:
    """Whoever calls a kernel, or its Python, meanwhile gets an AssertionError."""
    codes = [source.__code__ for source in sources()]
    Dispatcher.__call__ = refused
    for source in sources():
        source.__code__ = refused.__code__
    try:
        yield
    finally:
        del Dispatcher.__call__
        for source, code in zip(sources(), codes, strict=True):
            source.__code__ = code
