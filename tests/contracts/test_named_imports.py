"""Modules that are imported by a text, which walls.py and import-linter do not see, are those listed here.

A face that looks names up when they are first used says where they are in strings. A text that is made while
the program runs is followed as far as its beginning goes, and a table of texts (``f"paddle.{_WHERE[name]}"``)
is read; what cannot be followed is ``*``, and the row says in words what it may be.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import paddle

from .test_imports import fits

PACKAGE = Path(paddle.__file__).parent

NAMED = {
    "__init__": (
        "* _at_once _eager _mode _program.description.dtypes _program.description.limits "
        "_program.files.objects _program.running.places device fluid framework linalg tensor v2"
    ),
    "_aliases": "*",  # the packages that have another name, too
    "_mode": "* tensor",  # modules of tensor, whose functions are methods of variables
    "_program.lowering.op_rows": "_program.ops",  # the families import it
    "_program.ops": "_program.ops",
    "dataset": "dataset",
    "distributed": "distributed",
    "fluid": "fluid",
    "fluid.core": "_program.files.records _program.predicting.older _program.reading.end",
    "incubate": "geometric incubate",
    "inference": "_program v2.inference",
    "metric": "metric",
    "nn": "nn",
    "optimizer": "optimizer v2.optimizer",  # one name, two generations: decision 73
    "tensor": "*",  # its own modules
    "static": "_program static tensor.creation fluid",  # what did not change since fluid is fluid's very own
    "distribution": "distribution",
    "text": "text",
    "utils": "fluid.framework utils",
    "utils.lazy_import": "*",  # what a program asks for
    "v2": "fluid v2",
    "vision": "vision",
}
"""Who, and what it may name; a name stands for all below it."""


@cache
def named() -> dict[str, set[str]]:
    """What each module imports by a text, without ``paddle.``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if fits("_launch.agent", module):  # which is no part of the package where it runs
            continue
        written = texts(ast.parse(path.read_text(encoding="utf-8")))
        told = {imported for text in written for imported in modules_of(text, module)}
        found[module] = {name.removeprefix("paddle.") for name in told if fits("paddle", name)}
    return {module: names for module, names in found.items() if names}


def texts(tree: ast.Module) -> Iterator[ast.expr]:
    """What is given to ``import_module`` and ``__import__``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in ("import_module", "__import__"):
                yield node.args[0]


def modules_of(text: ast.expr, module: str) -> Iterator[str]:
    """The modules that a text names: one, those of a table, or all below where it begins."""
    own = f"paddle.{module}".removesuffix(".__init__")
    if isinstance(text, ast.Constant):
        yield str(text.value)
    elif isinstance(text, ast.JoinedStr):
        begins, varies = "", None
        for part in text.values:
            if isinstance(part, ast.Constant):
                begins += str(part.value)
            elif (value := part.value) and ast.unparse(value) == "__name__":
                begins += own
            else:
                varies = value
                break
        if begins == "paddle.":
            yield from (f"paddle.{name}" for name in table_of(varies, module))
        else:
            yield begins.rpartition(".")[0]
    elif ast.unparse(text) != "__name__":
        yield "paddle.*"


def table_of(varies: ast.expr | None, module: str) -> set[str]:
    """The values of the table that ``varies`` looks up, as the module has it."""
    if not isinstance(varies, ast.Subscript):
        return {"*"}
    names = vars(importlib.import_module(f"paddle.{module}".removesuffix(".__init__")))
    return set(eval(ast.unparse(varies.value), names).values())


def test_what_is_named_is_allowed() -> None:
    found = named()
    assert len(found) > 10
    over = []
    for module, modules in found.items():
        row = max((name for name in NAMED if fits(name, module)), key=len, default="")
        allowed = NAMED.get(row, "").split()
        over += [
            f"{module} names paddle.{one}" for one in modules if not any(fits(name, one) for name in allowed)
        ]
    assert not over, "\n".join(over)


def test_what_is_allowed_is_named() -> None:
    found = named()
    for row, allowed in NAMED.items():
        modules = set().union(*(found[one] for one in found if fits(row, one)))
        idle = [name for name in allowed.split() if not any(fits(name, one) for one in modules)]
        assert not idle, (row, idle)


def test_a_text_is_followed() -> None:
    tree = ast.parse('import_module("paddle.a.b"); import_module(f"{__name__}.{x}"); import_module(told)')
    one, other, third = texts(tree)
    assert list(modules_of(one, "v2")) == ["paddle.a.b"]
    assert list(modules_of(other, "v2.__init__")) == ["paddle.v2"]
    assert list(modules_of(third, "v2")) == ["paddle.*"]
