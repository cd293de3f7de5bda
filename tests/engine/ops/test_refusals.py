"""Each refusal of each operator's shape rule is seen: a new operator, or a new check, has a case to refuse.

A refusal is a way from a shape rule to a ``raise`` of a ShapeError: the calls on it, each in a line of its
own function. They are read from the sources, and looked for in what the tables of cases make rules raise.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from types import FunctionType, ModuleType, TracebackType
from typing import Any

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.errors import ShapeError
from paddle._engine.single import Single

from ..test_operators import DIFFERENTIABLE, OTHERS, WRONG
from .test_shape_rules import Slots, altered, with_one_more

Lines = tuple[str, int, int]
Way = tuple[Lines, ...]
Seen = tuple[tuple[str, int], ...]

RULES = "paddle._engine.ops"
UNREACHED: dict[str, tuple[int, str]] = {
    "lstm: _shape > matrix": (1, "Projection is lstmp's"),
    "lstm: _shape": (1, "so is what it is said to be"),
    "batch_norm: _shape": (1, "Momentum is batch_norm_told's"),
    "max_pool2d: _max_pool_shape > _pool_shape > image_form": (1, "looked at by _max_pool_shape before"),
    "reshape: _reshape_shape > _resolved > _of_the_rest > _resolved": (1, "what is open was seen before"),
    "reshape_by: _shape_by_others > _resolved": (1, "more than one that is open waits for the feed"),
    "reshape_by: _shape_by_others > _resolved > _of_the_rest > _resolved": (2, "as by reshape"),
    "sequence_window_padded: _padded_shape > _windows_shape > matrix": (
        1,
        "looked at by _padded_shape before",
    ),
}
"""How many ways there are, by the names of functions on them, that no call of an operator can go."""


@cache
def written(function: FunctionType) -> ast.Module:
    """A function's source, its lines numbered as in its file."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    return tree


def outside_of_raises(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes, but none within a ``raise``: what a message calls has passed."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.Raise):
            yield from outside_of_raises(child)


def meant(node: ast.AST, function: FunctionType) -> Any:
    """What a name, or a name in a module, is."""
    if isinstance(node, ast.Name):
        return function.__globals__.get(node.id)
    if isinstance(node, ast.Attribute):
        module = meant(node.value, function)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
    return None


def is_of_rules(found: Any) -> bool:
    return isinstance(found, FunctionType) and found.__module__.startswith(RULES)


def ways(function: FunctionType, above: tuple[FunctionType, ...] = ()) -> Iterator[Way]:
    """All ways to a refusal, none of them three times through a function."""
    name = function.__code__.co_name
    for node in outside_of_raises(written(function)):
        here = (name, getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0)
        if isinstance(node, ast.Raise):
            yield (here,) if "ShapeError" in ast.unparse(node) else ()
        found = meant(node, function)
        if is_of_rules(found) and above.count(found) < 2:
            yield from ((here, *rest) for rest in ways(found, (*above, found)) if rest)


def gone(trace: TracebackType | None) -> Seen:
    """The way that an error has come: functions of the rules, each with the line it was in."""
    seen: list[tuple[str, int]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if trace.tb_frame.f_globals["__name__"].startswith(RULES):
            if code.co_name in ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>") and seen:
                seen[-1] = (seen[-1][0], trace.tb_lineno)
            else:
                seen.append((code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    return tuple(seen)


def fits(way: Way, seen: Seen) -> bool:
    pairs = zip(way, seen, strict=False)
    return len(way) == len(seen) and all(
        name == other and first <= line <= last for (name, first, last), (other, line) in pairs
    )


def refusals() -> dict[str, set[Seen]]:
    """What all cases are refused for, those of the tables and others made of them, by operator."""
    found: defaultdict[str, set[Seen]] = defaultdict(set)

    def infer(type: str, slots: Slots, attrs: dict[str, Any]) -> None:
        try:
            Single(type, slots, attrs)._operator()
        except ShapeError as error:
            found[type].add(gone(error.__traceback__))

    for type, inputs, attrs, _ in WRONG:
        infer(type, {slot: v if isinstance(v, list) else [v] for slot, v in inputs.items()}, attrs)
    for case in DIFFERENTIABLE + OTHERS:
        for _, slots in (*with_one_more(case), *altered(case)):
            infer(case.type, slots, case.attrs)
    return found


@pytest.fixture(scope="module")
def seen() -> dict[str, set[Seen]]:
    with np.errstate(invalid="ignore"):
        return refusals()


def unseen(type: str, seen: dict[str, set[Seen]]) -> list[Way]:
    rule = registry.row(type).shape
    assert isinstance(rule, FunctionType)
    return [way for way in ways(rule) if way and not any(fits(way, each) for each in seen.get(type, ()))]


@pytest.mark.parametrize("type", sorted(registry.table()))
def test_each_refusal_of_a_shape_rule_is_seen(type: str, seen: dict[str, set[Seen]]) -> None:
    left = unseen(type, seen)
    names = Counter(f"{type}: {' > '.join(name for name, _, _ in way)}" for way in left)
    assert names == {key: n for key, (n, _) in UNREACHED.items() if key.startswith(f"{type}: ")}, left


def test_a_refusal_that_no_case_has_is_found() -> None:
    """As the check is one that reads sources: of an operator without cases all are left."""
    assert len(unseen("edit_distance", {})) == 2 + 2 * 2 + 1
