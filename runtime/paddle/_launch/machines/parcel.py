"""The agent as it comes to a node on which nothing is installed: one text, on the standard input of a Python.

It must never know what carries it. What a node's shell sees is ``COMMAND`` and nothing else, ever: which
Python is meant, the agent and all that it is told come behind it as data.

Guarantee: the agent runs as it was sent, or not at all; nothing is written on the node to run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import paddle._launch.agent as agent

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


def call(pythons: Sequence[str], entry: str) -> bytes:
    """What to send before anything else, so that a module of the agent runs: ``agent.halves``, say."""
    names = "".join(f"{python}\n" for python in pythons)
    text = _packed() + f"\nrun(TEXTS, {entry!r})\n".encode()
    return f"{names}\n{len(text):08d}".encode() + sha256(text).digest() + text


@cache
def _packed() -> bytes:
    folder = Path(agent.__file__).parent
    texts = {_module(path): path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    return f"{texts['agent.memory']}\nTEXTS = {texts!r}\n".encode()


def _module(path: Path) -> str:
    return "agent" if path.stem == "__init__" else f"agent.{path.stem}"
