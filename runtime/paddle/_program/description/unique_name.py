"""Names that no other variable has: a key and how often it was asked for.

It must never know what is named. Guarantee: the same program text gives the same names in every process,
which is how trainers and parameter servers agree on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle._program.description.written import now


class UniqueNameGenerator:
    """Counts by key; ``prefix`` stands before all names."""

    def __init__(self, prefix: str | bytes | None = None) -> None:
        self.ids: dict[str, int] = defaultdict(int)
        self.prefix = prefix.decode() if isinstance(prefix, bytes) else prefix or ""

    def __call__(self, key: str) -> str:
        """The next name of this key."""
        number = self.ids[key]
        self.ids[key] += 1
        return f"{self.prefix}{key}_{number}"


def generate(key: str) -> str:
    """A new name that begins with ``key``."""
    return _generator()(key)


def switch(new_generator: UniqueNameGenerator | None = None) -> UniqueNameGenerator:
    """Count with another generator, a new one by default, and return the one before."""
    before = _generator()
    now().names = new_generator or UniqueNameGenerator()
    return before


@contextmanager
def guard(new_generator: UniqueNameGenerator | str | bytes | None = None) -> Iterator[None]:
    """Count with another generator within the block; a text is the prefix of a new one."""
    if isinstance(new_generator, str | bytes):
        new_generator = UniqueNameGenerator(new_generator)
    before = switch(new_generator)
    try:
        yield
    finally:
        switch(before)


def _generator() -> UniqueNameGenerator:
    writing = now()
    if writing.names is None:
        writing.names = UniqueNameGenerator()
    return writing.names


def __getattr__(name: str) -> Any:
    if name == "generator":
        return _generator()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
