"""Every kernel that others than kernels call has a twin, and a test that gives both the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dis import get_instructions
from functools import partial
from importlib import import_module
from inspect import getsource
from math import erf
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from paddle._engine.kernels import normal
from paddle._engine.kernels.normal import error_function
from tests.engine.kernels.barring import PACKAGE, modules, sources
from tests.engine.kernels.case import Case

ROOT = Path(__file__).resolve().parents[2]
RUNTIME, ROOM = ROOT / "runtime/paddle", ROOT / "tests/engine/kernels"
APART = {
    "flushing.flush": "tests.engine.ops.test_flushed",  # they compute nothing
    "flushing.restore": "tests.engine.ops.test_flushed",
    "matrices.strips.lay_out": "tests.engine.ops.test_pieces_anywhere",  # only products read it
    "matrices.strips.add_product": "tests.engine.ops.test_pieces_anywhere",
}
"""Where there is no twin of the same arguments: which module tests it."""


FEW = 4
"""Lines, that with ``def`` among them."""


def name(kernel: Any) -> str:
    return f"{kernel.py_func.__module__}.{kernel.__name__}".removeprefix(PACKAGE + ".")


def called(function: FunctionType) -> Iterator[Dispatcher]:
    """The kernels that a function names."""
    for each in get_instructions(function):
        if each.opname == "LOAD_GLOBAL" and isinstance(
            found := function.__globals__.get(each.argval), Dispatcher
        ):
            yield found


def imported() -> Iterator[str]:
    """Names that are taken from modules of kernels, elsewhere than there."""
    for path in RUNTIME.rglob("*.py"):
        if ROOM.name not in path.relative_to(RUNTIME).parts:
            yield from taken(ast.parse(path.read_bytes()))


def taken(tree: ast.Module) -> Iterator[str]:
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            for each in node.names:
                yield f"{node.module}.{each.name}"
                known[each.asname or each.name] = f"{node.module}.{each.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield f"{known[node.value.id]}.{node.attr}"


def public() -> set[str]:
    """Kernels that no kernel calls, and those that others call besides."""
    every, by_kernels, by_others = set(), set(), set()
    for module in modules():
        for each in vars(module).values():
            if isinstance(each, Dispatcher) and each.py_func.__module__ == module.__name__:
                every.add(each)
                by_kernels |= set(called(each.py_func)) - {each}
            elif isinstance(each, FunctionType) and each.__module__ == module.__name__:
                by_others |= set(called(each))
    outside = {each.removeprefix(PACKAGE + ".") for each in imported()}
    return {name(each) for each in every - by_kernels | by_others} | {name(one) for one in every} & outside


def held() -> list[Case]:
    """What the tests of the room compare."""
    names = sorted(path.stem for path in ROOM.glob("test_*_twins.py"))
    found = [import_module(f"tests.engine.kernels.{each}") for each in names]
    tests = [each for module in found for key, each in vars(module).items() if key.startswith("test_")]
    return [case for test in tests for case in getattr(test, "cases", [])]


def test_each_kernel_has_a_twin_that_a_test_compares_it_with() -> None:
    compared = {name(case.kernel) for case in held()}
    assert len(compared) > 100
    assert public() - compared - set(APART) == set(), "give these a Case in tests/engine/kernels"
    assert not compared & set(APART)
    assert set(APART) <= public()


def names(tree: ast.AST) -> set[str]:
    """What it reads, by name or as an attribute."""
    every = list(ast.walk(tree))
    attributes = {each.attr for each in every if isinstance(each, ast.Attribute)}
    return attributes | {each.id for each in every if isinstance(each, ast.Name)}


def reached() -> set[str]:
    """Functions among kernels that something outside of them names, or one that is reached. That a list of
    what is compiled early (paddle/_warm) names one is no reason for it to be there."""
    within: dict[str, set[str]] = {}
    wanted: set[str] = set()
    for path in RUNTIME.rglob("*.py"):
        parts = path.relative_to(RUNTIME).parts
        text = path.read_text()
        for node in ast.parse(text).body if "_warm" not in parts and "kernel" in text else ():
            if ROOM.name in parts and isinstance(node, ast.FunctionDef):
                within.setdefault(node.name, set()).update(names(node))
            else:
                wanted |= names(node)
    found, todo = set[str](), wanted & within.keys()
    while todo:
        found |= todo
        todo = {each for one in todo for each in within[one] & within.keys()} - found
    return found


def test_no_kernel_is_there_for_nobody() -> None:
    assert {source.__name__ for source in sources()} - reached() == set()


def test_no_two_kernels_are_the_same() -> None:
    """But for those of a line or two, which a file has to itself."""
    found: dict[Any, list[str]] = {}
    for source in sources():
        code, told = source.__code__, source.__doc__
        constants = tuple(each for each in code.co_consts if each != told)
        if len({line for *_, line in code.co_lines() if line}) > FEW:
            found.setdefault((code.co_code, repr(constants), code.co_names), []).append(source.__qualname__)
    assert len(found) > 200
    assert [each for each in found.values() if len(each) > 1] == []


ASIDE = error_function


def behind_a_closure(kernel: Any) -> Any:
    return lambda x, out: kernel(x, out)


TWINS_THAT_ARE_NONE = {
    "itself": ASIDE,
    "its Python": ASIDE.py_func,
    "by its name": lambda x, out: error_function(x, out),
    "by another name": lambda x, out: ASIDE(x, out),
    "as an attribute": lambda x, out: getattr(normal, "error_" + "function")(x, out),
    "as an attribute's Python": lambda x, out: normal.error_function.py_func(x, out),
    "behind a closure": behind_a_closure(ASIDE),
    "its Python, behind a closure": behind_a_closure(ASIDE.py_func),
    "in part": partial(ASIDE),
    "by what else calls it": lambda x, out: np.copyto(out, 2 * normal.numpy_gelu(x)),
}


@pytest.mark.parametrize("how", TWINS_THAT_ARE_NONE)
def test_a_twin_that_reaches_a_kernel_is_none(how: str) -> None:
    """While a twin runs there are no kernels (tests/engine/kernels/barring.py); then they are again."""
    case = Case(ASIDE, TWINS_THAT_ARE_NONE[how], lambda draw: ())
    x = np.array([0.5, -1.0])
    with pytest.raises(AssertionError, match="a twin calls a kernel"):
        case.check((x, np.zeros(2)))
    for each in (ASIDE, ASIDE.py_func):
        each(x, out := np.zeros(2))
        assert out.tolist() == [erf(0.5), erf(-1.0)]


def test_no_twin_is_a_copy_of_a_kernel() -> None:
    codes = {source.__code__ for source in sources()}
    assert ASIDE.py_func.__code__ in codes
    for case in held():
        twin = case.twin
        assert isinstance(twin, FunctionType) or twin.__module__ == "numpy", case.name
        assert getattr(twin, "__code__", None) not in codes, case.name


def test_what_has_no_twin_is_named_where_it_is_tested() -> None:
    for kernel, module in APART.items():
        assert kernel.rpartition(".")[2] in getsource(import_module(module)), kernel
