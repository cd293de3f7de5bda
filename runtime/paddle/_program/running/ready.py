"""What is ready: courses that executors have made of programs, kept in the scope that these run in.

It must never know how a program is run. Guarantee: what was made for a scope, an executor and a program goes
with any of the three, and when the program is changed; so nothing here may keep a program alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from paddle._program.description.program import Program
from paddle._program.running.course import Course
from paddle._program.running.scope import Scope

MOST = 64
"""Of more feeds and fetches of one program the one not asked for longest is made ready anew."""


@dataclass(slots=True)
class Ready:
    """A program made ready for a feed and fetches: of each its name, whether it lies in the scope, and the
    dtype that it is declared as, where the engine computes in another. ``whole``: what is fed of whole
    numbers, and the dtype of each. ``lasting``: what is fed that outlives a run."""

    course: Course
    fetches: Sequence[tuple[str, bool, np.dtype[Any] | None]]
    whole: Sequence[tuple[str, np.dtype[Any]]] = ()
    lasting: Sequence[str] = ()


@dataclass(slots=True)
class _Known:
    """What one executor has made ready of one program, the last used last."""

    version: int
    ready: dict[object, Ready] = field(default_factory=dict)


def ready_of(
    scope: Scope, executor: object, program: Program, key: object, make: Callable[[], Ready]
) -> Ready:
    """What ``executor`` runs for ``program`` in ``scope``; made where there is none of that ``key``, or the
    program was changed since."""
    programs = scope.ready.get(executor)
    if programs is None:
        programs = scope.ready[executor] = WeakKeyDictionary()
    known = programs.get(program)
    if known is None or known.version != program._version:
        known = programs[program] = _Known(program._version)
    found = known.ready.pop(key, None) or make()
    known.ready[key] = found
    if len(known.ready) > MOST:
        del known.ready[next(iter(known.ready))]
    return found
