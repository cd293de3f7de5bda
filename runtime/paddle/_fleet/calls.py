"""Calls that a program has in its text: of the file that Python runs, and of modules that it has imported.

It must never run a line of it. Guarantee: what cannot be read has no calls.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

_STANDARD = sys.stdlib_module_names
_OURS = {"paddle", "numba", "llvmlite", "numpy", "aiohttp", "fabric", "invoke", "msgspec", "xxhash"}


def in_main(name: str, *, is_told: bool = False) -> str | None:
    """Where the file that Python runs calls ``name`` first, with arguments where ``is_told``: its file and
    line."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None:
        return None
    lines = [call.lineno for call in _calls(_text(path), {name}) if not is_told or call.args or call.keywords]
    return f"{path}:{min(lines)}" if lines else None


def in_program(names: Collection[str]) -> bool:
    """Whether that file, or another module that is imported now and speaks of a fleet, calls one of these."""
    if any(in_main(name) for name in names):
        return True
    texts = (_text(path) for path in _files())
    return any(b"fleet" in text and any(_calls(text, names)) for text in texts)


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


def _calls(text: bytes, names: Collection[str]) -> Iterator[ast.Call]:
    if not any(name.encode() in text for name in names):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func) in names:
            yield node


def _called(function: ast.expr) -> str:
    """The name by which something is called, of a module or an object or by itself."""
    return getattr(function, "attr", "") or getattr(function, "id", "")
