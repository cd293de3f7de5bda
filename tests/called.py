"""What the runtime calls of its kernels in a test is what is compiled before there is a job: whichever test
has it call another one, or with something else, fails, and says what paddle/_warm/usual.py lacks.

Of what tests call themselves nothing is said. Left out there, and so here, are operators in float64, and
arrays that only tests lay out with gaps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import local
from typing import Any

import pytest
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

RUNTIME = str(Path(__file__).resolve().parents[1] / "runtime" / "paddle")
KERNELS = f"{RUNTIME}/_engine/kernels/"
Call = tuple[str, str, tuple[Any, ...]]

CALLS: list[Call] = []
"""Kernels, by module and name, that the runtime called in this process, and types of arguments: all of which
they were not called with before."""


def watch() -> None:
    """Note calls from here on."""
    compile_for = Dispatcher._compile_for_args

    def noting(self: Any, *arguments: Any, **named: Any) -> Any:
        before = set(self.overloads)
        try:
            return compile_for(self, *arguments, **named)
        finally:
            found = [(self, signature) for signature in self.overloads.keys() - before]
            if (made := getattr(_aside, "made", None)) is not None:
                made += found
            elif _is_the_runtimes(sys._getframe(1)):
                CALLS.extend(map(_call, found))

    Dispatcher._compile_for_args = noting


Compiled = tuple[Any, tuple[Any, ...]]
_aside = local()
_forgotten: list[Any] = []  # code that a thread may still run


def _call(compiled: Compiled) -> Call:
    kernel, signature = compiled
    return kernel.py_func.__module__, kernel.py_func.__name__, signature


@contextmanager
def aside() -> Iterator[None]:
    """What this thread calls meanwhile no program does: nothing is said of it. What it is the first to call
    is forgotten again, so that whoever calls that for a program is the first to."""
    made: list[Compiled] = []
    before, _aside.made = getattr(_aside, "made", None), made
    try:
        yield
    finally:
        _aside.made = before
        for compiled in made:
            if _call(compiled) not in listed():
                _forget(*compiled)


@global_compiler_lock  # type: ignore[untyped-decorator]
def _forget(kernel: Any, signature: tuple[Any, ...]) -> None:
    others = dict(kernel.overloads)
    if signature in others:
        _forgotten.append(others.pop(signature))
    kernel._reset_overloads()
    for each in others.values():
        kernel.add_overload(each)


def _is_the_runtimes(frame: Any) -> bool:
    """Whether that is where a kernel was called, or the kernel's own Python."""
    while frame is not None and frame.f_code.co_filename.startswith(KERNELS):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(RUNTIME)


@cache
def listed() -> frozenset[Call]:
    from paddle._warm.usual import USUAL

    return frozenset((kernel.py_func.__module__, kernel.py_func.__name__, given) for kernel, given in USUAL)


def lacking(calls: list[Call], is_left_out: Callable[[tuple[Any, ...]], bool] | None = None) -> list[str]:
    """What is not listed, a text for each. ``is_left_out``: what need not be."""
    is_left_out = is_left_out or _is_left_out
    return [
        f"({module.rpartition('.')[2]}.{name}, ({', '.join(map(str, given))}))"
        for module, name, given in calls
        if (module, name, given) not in listed() and not is_left_out(given)
    ]


def _is_left_out(given: tuple[Any, ...]) -> bool:
    arrays = [each for each in given if isinstance(each, types.Array)]
    dtypes = {each.dtype for each in arrays}
    return (types.float64 in dtypes and types.float32 not in dtypes) or any(a.layout == "A" for a in arrays)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Of each test, but for those of what no program does."""
    CALLS.clear()
    result = yield
    if item.get_closest_marker("unusual") is not None:
        return result
    assert not (found := lacking(CALLS)), f"paddle/_warm/usual.py lacks {'; '.join(found)}"
    return result


watch()
