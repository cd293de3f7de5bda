"""Profiling of a program that knows nothing of it: from its settings to its end, then written to files.

It must never know how a step is computed. Guarantee: the program's result and its exit status are those that
it would have had; where files cannot be written it says so and goes on.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it loads numpy
    from paddle._engine.profile import Profile

TABLE, TRACE = "paddle_trainer.profile.txt", "paddle_trainer.trace.json"

BUDGET = 0.01  # the share of a program's time that it may cost: one may leave it on

_is_on = False


def profile_to(folder: str) -> None:
    """Profile all runs from now on; when the program ends, the table and the trace are written to ``folder``.

    Calling it again changes nothing.
    """
    global _is_on
    if _is_on:
        return
    _is_on = True
    from paddle._engine.profile import Profile, current, switch  # loads numpy

    profile = Profile(budget=BUDGET)
    if current() is None:
        switch(profile)
    atexit.register(_write, profile, Path(folder).absolute(), os.getpid())


def _write(profile: Profile, folder: Path, process: int) -> None:
    from paddle._engine.profile import current, switch
    from paddle._engine.profile_table import table

    if process != os.getpid():  # a fork has its parent's handlers
        return
    if current() is profile:
        switch(None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / TABLE).write_text(table(profile.lines(), profile.runs, passed=profile.passed) + "\n")
        (folder / TRACE).write_text(json.dumps(profile.trace(process)))
    except OSError as error:
        where = error.filename or folder
        print(f"warning: cannot write the profile {where}: {error.strerror}", file=sys.stderr)
