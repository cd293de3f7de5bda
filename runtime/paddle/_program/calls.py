"""Calls that a program has in its text: of the file that Python runs, and of modules that it has imported.

It must never run a line of it. Guarantee: what cannot be read has no calls.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_STANDARD = sys.stdlib_module_names
_LOADS = {"load_persistables", "load_params", "load_vars"}
_ALSO_LOAD = {"load", "load_checkpoint", "load_model", "init_server", "set_program_state"}
_OF_SERVERS = {"get_pserver_program", "get_pserver_programs", "run_server"}
_OF_TRAINERS = {"get_trainer_program", "init_worker"}
_OURS = {"paddle", "numba", "llvmlite", "numpy", "aiohttp", "fabric", "invoke", "msgspec", "xxhash"}


def in_main(name: str, *, is_told: bool = False) -> str | None:
    """Where the file that Python runs calls ``name`` first, with arguments where ``is_told``: its file and
    line."""
    path = _main()
    calls = _calls(_tree(_text(path), {name}), {name})
    return _first(path, [call for call in calls if not is_told or call.args or call.keywords])


def loaded_by_servers() -> str | None:
    """Where that file loads values in the part of it that servers run, a branch or a function, and nowhere
    else: its file and line."""
    path = _main()
    tree = _tree(_text(path), _LOADS)
    loads = list(_calls(tree, _LOADS))
    theirs = {id(call) for part in _parts(tree) for call in part}
    others = [call for call in _calls(tree, _LOADS | _ALSO_LOAD) if id(call) not in theirs]
    return None if others else _first(path, loads)


def in_program(names: Collection[str]) -> bool:
    """Whether that file, or another module that is imported now and speaks of a fleet, calls one of these."""
    if any(in_main(name) for name in names):
        return True
    texts = (_text(path) for path in _files())
    return any(b"fleet" in text and any(_calls(_tree(text, names), names)) for text in texts)


def _main() -> str:
    return getattr(sys.modules.get("__main__"), "__file__", None) or ""


def _first(path: str, calls: Sequence[ast.Call]) -> str | None:
    return f"{path}:{min(call.lineno for call in calls)}" if calls else None


def _parts(tree: ast.AST) -> Iterator[list[ast.Call]]:
    """What is called in each part that is the servers' alone: in any case it does what servers do, and never
    what trainers do."""
    for body in _bodies(tree):
        part = [call for each in body for call in ast.walk(each) if isinstance(call, ast.Call)]
        own = {_called(call.func) for each in body for call in _in_any_case(each)}
        if own & _OF_SERVERS and not {_called(call.func) for call in part} & _OF_TRAINERS:
            yield part


def _in_any_case(node: ast.AST) -> Iterator[ast.Call]:
    """What is called in a statement, but not what one of its branches or functions does alone."""
    if isinstance(node, ast.If | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    if isinstance(node, ast.Call):
        yield node
    for each in ast.iter_child_nodes(node):
        yield from _in_any_case(each)


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Of branches and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.FunctionDef):
            yield node.body
            yield getattr(node, "orelse", [])


def _files() -> Iterator[str]:
    """Of the modules that are neither Python's nor this package's, or what it stands on."""
    for name, module in list(sys.modules.items()):
        top, path = name.partition(".")[0], getattr(module, "__file__", None)
        if path and path.endswith(".py") and top not in _STANDARD and top not in _OURS:
            yield path


def _text(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _calls(tree: ast.AST, names: Collection[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func) in names:
            yield node


def _tree(text: bytes, names: Collection[str]) -> ast.AST:
    """A program; one of nothing where it has none of these names, or is none."""
    if any(name.encode() in text for name in names):
        with suppress(SyntaxError, ValueError):
            return ast.parse(text)
    return ast.Module([], [])


def _called(function: ast.expr) -> str:
    """The name by which something is called, of a module or an object or by itself."""
    return getattr(function, "attr", "") or getattr(function, "id", "")
