"""Writing: what is being written in this process, all in one place.

Layers are appended to a program that nobody hands them, under names that nobody gave; what they are, and
what holds where nobody says otherwise, is kept here and nowhere else. There is one for the whole process, as
in the original: one thread writes programs, any may run them.

It must never know an operator. Guarantee: within ``fresh()`` all of it begins anew, and what was before is
there again when the block is left, by an error too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle._program.description.program import Program
    from paddle._program.description.unique_name import UniqueNameGenerator


@dataclass(slots=True, eq=False)
class Writing:
    """``main``, ``startup``: the default programs, made when they are first asked for. ``names``: what
    counts them. ``seed``: of programs that are made. ``weight``, ``bias``: how parameters begin, ``dtype``:
    what numbers are, where nobody says; None: as ever. ``is_static``: whether names of 2.x append to
    programs. ``scope``: in which programs are run that are told none."""

    main: Program | None = None
    startup: Program | None = None
    names: UniqueNameGenerator | None = None
    seed: int = 0
    weight: Any = None
    bias: Any = None
    dtype: Any = None
    is_static: bool = False
    scope: Any = None


_now = Writing()


def now() -> Writing:
    """What is being written."""
    return _now


@contextmanager
def fresh(*, is_static: bool | None = None) -> Iterator[Writing]:
    """Write something else within the block. ``is_static``: None is as it was."""
    global _now
    before = _now
    _now = Writing(is_static=before.is_static if is_static is None else is_static)
    try:
        yield _now
    finally:
        _now = before
