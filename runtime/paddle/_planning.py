"""The command ``paddle dump_plan``: what one step of a training program computes, and where.

The program runs as it would, up to its first step; that is planned and not taken. It must never know a
program's words. Guarantee: as of every command, see ``__main__``; no parameter has changed when it ends.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddle._launch.errors import UsageError
from paddle._streams import show
from paddle._visible import visible

if TYPE_CHECKING:  # they load numpy
    from paddle._engine.plan import Plan
    from paddle._engine.program import Program

_USAGE = """
Usage: paddle dump_plan SCRIPT [ARGUMENT ...]

Runs a training program up to its first step and prints how that is computed: what was fused, the operators
in their order with what they write and where, and how much memory it takes. No step is taken. A program that
only predicts runs to its end, and what is printed is its first plan. Exit status: 1 failed, 2 wrong usage.
"""
_WITHOUT = (
    "has ended without a step, so there is no plan. It has to train (trainer.train in v2, Executor.run in "
    "fluid and 2.x) or to predict; to run a startup program is no step. Arguments that it needs follow its "
    "name"
)
_FAILED = (
    "failed before its first step, as shown here, so there is no plan. Have `python` run it first; arguments "
    "that it needs follow its name"
)


class _Planned(BaseException):
    """The first step is planned: nothing else is to happen. Not an Exception, which a program may catch."""


class _First:
    """The text of the first plan that trains, or of the first one. ``is_last``: that one trains."""

    def __init__(self) -> None:
        self.text, self.is_last = "", False

    def __call__(self, program: Program, plan: Plan) -> None:
        from paddle._engine.plan_text import plan_text

        if not self.is_last and (plan.trains or not self.text):
            self.text, self.is_last = plan_text(program, plan), plan.trains
        if self.is_last:
            raise _Planned


def dump_plan(arguments: Sequence[str]) -> int:
    """Run ``paddle dump_plan``; gives its exit status. An error of the program that comes before its first
    step is raised, with a note that says what to do."""
    if not arguments or arguments[0].startswith("-"):
        if arguments and arguments[0] in ("-h", "--help"):
            show(_USAGE.strip())
            return 0
        raise UsageError("it takes a training program: `paddle dump_plan train.py`")
    script = Path(arguments[0])
    if not script.is_file():
        said = f"{str(script)!r} is a folder" if script.is_dir() else f"there is no program {str(script)!r}"
        raise UsageError(f"{said}. Give the path of a program, such as train.py")
    text = _planned(script, arguments)
    if not text:
        print(visible(f"paddle dump_plan: {script} {_WITHOUT}"), file=sys.stderr)
        return 1
    show("\n".join(map(visible, text.splitlines())))
    return 0


def _planned(script: Path, arguments: Sequence[str]) -> str:
    from paddle._engine.executor import watch_plans

    first = _First()
    watch_plans(first)
    sys.argv = list(arguments)
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        if ended.code and not first.text:  # it has said why
            raise
    except BaseException as error:
        if not first.is_last:  # else a program may have made another error of what ends it
            error.add_note(visible(f"paddle dump_plan: {script} {_FAILED}"))
            raise
    finally:
        watch_plans(None)
    return first.text
