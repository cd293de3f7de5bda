"""The house's numbers: how long, how deep and how named code may be. Each offence is said in one line."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("runtime", "tests", "benchmarks", "workspace_template")
TEXTS = ("*.py", "*.md", "*.sh", "*.toml", "*.yml", "*.yaml")

MOST_LINES = 400
MOST_NESTED = 3
USUAL_FUNCTION = 30  # nine of ten are no longer
LONGEST_FUNCTION = 50
MOST_FILES = 40  # of code, in one folder
NO_NOUN = re.compile(r"(^|_)(utils?|helpers?|common|misc|managers?)(_|$)")
DOCUMENTED = {  # PaddlePaddle's names, which users import
    "runtime/paddle/common_ops_import.py",
    "runtime/paddle/dataset/common.py",
    "runtime/paddle/distributed/fleet/base/util_factory.py",
    "runtime/paddle/_program/writing/layer_helper.py",
    "runtime/paddle/fluid/contrib/utils/hdfs_utils.py",
    "runtime/paddle/fluid/incubate/fleet/utils/utils.py",
    "runtime/paddle/fluid/layer_helper.py",
    "runtime/paddle/incubate/distributed/fleet/fleet_util.py",
    "runtime/paddle/incubate/distributed/fleet/utils.py",
    "runtime/paddle/fluid/layer_helper_base.py",
    "runtime/paddle/fluid/log_helper.py",
    "runtime/paddle/fluid/layers/utils.py",
    "runtime/paddle/fluid/transpiler/details/program_utils.py",
    "runtime/paddle/nn/utils.py",
}
AS_USERS_WRITE = "tests/cluster/programs/"  # training programs: one main from top to bottom
HOME = re.compile(r"/(?:home|root|Users)/[\w.]")

Function = ast.FunctionDef | ast.AsyncFunctionDef
BLOCKS = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith),
    *(ast.Try, ast.TryStar, ast.Match),
)
PARTS = (ast.match_case, ast.ExceptHandler)  # of a block, and no deeper


def files(*patterns: str) -> list[Path]:
    within = chain.from_iterable(
        (ROOT / folder).rglob(one) for folder in (*FOLDERS, "docs") for one in patterns
    )
    beside = chain.from_iterable(ROOT.glob(one) for one in patterns)
    return sorted({*within, *beside})


class Measured(NamedTuple):
    """A function: how long it is, how deep its blocks lie in each other, and in which line that is."""

    name: str
    line: int
    length: int
    depth: int
    deepest_line: int


class Read(NamedTuple):
    """What of a file is looked at. (Trees of all files take a gigabyte, through which every later collection
    of garbage in this process would go.)"""

    says_what_it_is: bool
    functions: tuple[Measured, ...]


@cache
def read(text: str) -> Read:
    tree = ast.parse(text)
    found = (measured(node) for node in ast.walk(tree) if isinstance(node, Function))
    return Read(bool(ast.get_docstring(tree)), tuple(found))


def measured(function: Function) -> Measured:
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    return Measured(function.name, function.lineno, length, *deepest(function))


def deepest(node: ast.AST, depth: int = 0) -> tuple[int, int]:
    """How deep blocks lie in each other, and in which line; elif is no deeper than its if."""
    found = (depth, getattr(node, "lineno", 0))
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else ():
            is_elif = isinstance(node, ast.If) and field == "orelse" and value == [child]
            if isinstance(child, BLOCKS):
                found = max(found, deepest(child, depth + (not (is_elif and isinstance(child, ast.If)))))
            elif isinstance(child, PARTS):
                found = max(found, deepest(child, depth))
    return found


def too_long(where: str, text: str) -> Iterator[str]:
    if (lines := len(text.splitlines())) > MOST_LINES:
        yield f"{where} has {lines} lines, {MOST_LINES} are enough for one noun: split it"


def undocumented(where: str, text: str) -> Iterator[str]:
    if not read(text).says_what_it_is:
        yield f"{where} does not say in a docstring what it is"


def misnamed(where: str, text: str) -> Iterator[str]:
    if where not in DOCUMENTED and NO_NOUN.search(Path(where).stem):
        yield f"{where}: {Path(where).stem} says nothing about what is in it; name the noun"


def too_deep(where: str, text: str) -> Iterator[str]:
    for one in read(text).functions:
        if one.depth > MOST_NESTED:
            yield (
                f"{where}:{one.deepest_line}: {one.name} is nested {one.depth} deep, "
                f"{MOST_NESTED} is the most"
            )


def sprawling(where: str, text: str) -> Iterator[str]:
    for one in read(text).functions:
        if one.length > LONGEST_FUNCTION and not where.startswith(AS_USERS_WRITE):
            yield f"{where}:{one.line}: {one.name} has {one.length} lines, {LONGEST_FUNCTION} is the most"


def at_home(where: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := HOME.search(line):
            yield f"{where}:{number}: {found[0]}... is a folder of one person's machine"


Rule = Callable[[str, str], Iterable[str]]
OF_CODE: list[Rule] = [too_long, undocumented, misnamed, too_deep, sprawling]


def offences(rule: Rule, paths: Iterable[Path]) -> list[str]:
    return [
        said for path in paths for said in rule(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    ]


@pytest.mark.parametrize("rule", OF_CODE, ids=lambda rule: rule.__name__)
def test_no_code_is(rule: Rule) -> None:
    code = files("*.py")
    assert len(code) > 200
    found = offences(rule, code)
    assert not found, "\n".join(found)


def test_no_folder_is_too_full() -> None:
    full = Counter(path.relative_to(ROOT).parent.as_posix() for path in files("*.py"))
    assert {folder: number for folder, number in full.items() if number > MOST_FILES} == {}


def test_no_text_is_at_home_on_one_machine_only() -> None:
    found = offences(at_home, files(*TEXTS))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["runtime", "tests", "benchmarks"])
def test_nine_functions_of_ten_are_short(folder: str) -> None:
    code = [read(path.read_text("utf-8")) for path in (ROOT / folder).rglob("*.py")]
    lengths = sorted(one.length for each in code for one in each.functions)
    assert lengths[len(lengths) * 9 // 10] <= USUAL_FUNCTION


DEEP = """
def f():
    if a:
        for b in c:
            while d:
                {fourth}
"""
FLAT = """
def f():
    if a:
        pass
    elif b:
        pass
    elif c:
        for d in e:
            try:
                g()
            except h:
                g()
"""


@pytest.mark.parametrize(
    ("rule", "where", "text", "said"),
    [
        (too_long, "a.py", "\n" * 401, "a.py has 401 lines"),
        (undocumented, "a.py", "x = 1", "does not say"),
        (misnamed, "tests/helpers.py", "", "helpers says nothing"),
        (misnamed, "a/job_manager.py", "", "job_manager says nothing"),
        (misnamed, "runtime/paddle/_launch/common.py", "", "common says nothing"),
        (too_deep, "a.py", DEEP.format(fourth="with x: pass"), "a.py:6: f is nested 4 deep"),
        (too_deep, "a.py", DEEP.format(fourth="match x:\n                    case 1: pass"), "nested 4 deep"),
        (sprawling, "a.py", "def f():" + "\n    x" * 50, "a.py:1: f has 51 lines"),
        (at_home, "a.md", "see\n" + "/ho" + "me/ann/x", "a.md:2: /ho" + "me/a... is"),
    ],
)
def test_an_offence_is_said(rule: Rule, where: str, text: str, said: str) -> None:
    (found,) = rule(where, text)
    assert said in found


@pytest.mark.parametrize(
    ("rule", "where", "text"),
    [
        (too_long, "a.py", "\n" * 400),
        (misnamed, "runtime/paddle/dataset/common.py", ""),
        (misnamed, "a/commonest.py", ""),
        (too_deep, "a.py", DEEP.format(fourth="pass")),
        (too_deep, "a.py", FLAT),
        (too_deep, "a.py", DEEP.format(fourth="def g():\n                    if h: pass")),
        (sprawling, "a.py", "def f():" + "\n    x" * 49),
        (at_home, "a.md", "~/x and $HOME/x and /homes"),
    ],
)
def test_what_is_in_order_is_not_said(rule: Rule, where: str, text: str) -> None:
    assert list(rule(where, text)) == []
