"""What is ready: courses that executors have made of programs, kept in the scope that these run in.

It must never know how a program is run. Guarantee: what was made for a scope, an executor and a program goes
with any of the three, and when the program is changed; so nothing here may keep a program alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from paddle._program.description.program import Program
from paddle._program.running.asked import Fetch
from paddle._program.running.course import Course
from paddle._program.running.scope import Scope

MOST = 64
"""Of more feeds and fetches of one program the one not asked for longest is made ready anew."""


@dataclass(slots=True)
class Ready:
    """A program made ready for a feed and fetches. ``whole``: what is fed of whole numbers, and the dtype of
    each. ``lasting``: what is fed that outlives a run."""

    course: Course
    fetches: Sequence[Fetch]
    whole: Sequence[tuple[str, np.dtype[Any]]] = ()
    lasting: Sequence[str] = ()


class Shelf:
    """What one executor has made ready of one program, in one scope, the last used last."""

    def __init__(self, scope: Scope, version: int) -> None:
        self.scope, self.version = scope, version
        self.ready: dict[object, Ready] = {}

    def get(self, key: object) -> Ready | None:
        """What was made for a feed and fetches, which is used now."""
        found = self.ready.pop(key, None)
        if found is not None:
            self.ready[key] = found
        return found

    def put(self, key: object, made: Ready) -> Ready:
        """Keep what was made for them."""
        self.ready[key] = made
        if len(self.ready) > MOST:
            del self.ready[next(iter(self.ready))]
        return made


def shelf_of(scope: Scope, executor: object, program: Program) -> Shelf:
    """That of ``executor`` for ``program`` in ``scope``; a new one where the program was changed since."""
    programs = scope.ready.get(executor)
    if programs is None:
        programs = scope.ready[executor] = WeakKeyDictionary()
    found = programs.get(program)
    if found is None or found.version != program._version:
        found = programs[program] = Shelf(scope, program._version)
    return found
