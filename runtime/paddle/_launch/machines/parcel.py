"""The agent as it comes to a node on which nothing is installed: by the standard input of a Python.

It must never know what carries it. What a node's shell sees is ``COMMAND`` and nothing else, ever: which
Python is meant, the agent and all that it is told come behind it as data. The agent comes as text and as what
this Python has compiled it to, for the node's is the same one as a rule, and compiling takes it longer than
all that it has to do (agent/memory.py).

Guarantee: the agent runs as it was sent, or not at all; nothing is written on the node to run it.
"""

from __future__ import annotations

import marshal
import re
import zlib
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import paddle._launch.agent as agent
from paddle._launch.agent import memory

# sh reads the names of Pythons, a line each and an empty one behind them, and becomes the first that is
# there. That one reads a length, a digest and so many bytes, not one more, and runs them. No quotes and no
# backslash in Python's part, no newline anywhere: whatever shell a user logs in to, it hands this on as it
# is. What has not come within a minute does not come any more.
COMMAND = (
    "exec sh -c '"
    'p=; while IFS= read -r c && test "$c"; do '
    'test "$p" || { command -v "$c" >/dev/null 2>&1 && p=$c; }; done; '
    'test "$p" || exit 127; exec "$p" -I -S -B -X utf8 -c "'
    "import sys, io, hashlib, signal; signal.alarm(60); "
    "r = io.BufferedReader(io.FileIO(0, closefd=False), 1); "
    "n = int(r.read(8)); d = r.read(32); s = r.read(n); "
    "hashlib.sha256(s).digest() == d or sys.exit(65); exec(s)"
    "\"'"
)
_OLD = 2  # the format of marshal that every Python reads
_IMPORT = re.compile(r"^\s*from \.(\w*) import (.*)$", re.MULTILINE)


def call(pythons: Sequence[str], entry: str) -> bytes:
    """What to send before anything else, so that a module of the agent runs: ``agent.halves``, say."""
    return "".join(f"{python}\n" for python in pythons).encode() + b"\n" + _packed(entry)


@cache
def _packed(entry: str) -> bytes:
    """A module with all that it imports of the others, behind the text that makes modules of them."""
    texts = needed(entry)
    codes = {name: compile(text, name, "exec", dont_inherit=True) for name, text in texts.items()}
    compiled = zlib.compress(marshal.dumps(codes))
    modules = compiled + zlib.compress(marshal.dumps(texts, _OLD))
    what = (len(modules), sha256(modules).hexdigest(), len(compiled), memory.kind(), entry)
    call = f"run(r.read, *{what!r})"
    text = f"{_text('agent.memory')}\n{call}\n".encode()
    return f"{len(text):08d}".encode() + sha256(text).digest() + text + modules


def needed(entry: str) -> dict[str, str]:
    """Give the texts of a module of the agent and of those that it imports, by their names."""
    texts = {"agent": ""}
    todo = [entry]
    while todo:
        if (name := todo.pop()) not in texts:
            texts[name] = _text(name)
            for module, names in _IMPORT.findall(texts[name]):
                todo += [f"agent.{one.strip()}" for one in ([module] if module else names.split(","))]
    return texts


def _text(module: str) -> str:
    return (Path(agent.__file__).parent / f"{module.removeprefix('agent.')}.py").read_text(encoding="utf-8")
