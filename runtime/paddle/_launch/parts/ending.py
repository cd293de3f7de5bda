"""What is told after a failure, beside who failed.

Guarantee: the file that is named has all that the role printed.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle._launch.cause import Cause
from paddle._launch.parts.running import Running
from paddle._launch.plan import LaunchPlan, RolePlan


def failed(cause: Cause, launch: LaunchPlan) -> RolePlan | None:
    """The role that is the cause, if one is."""
    return next((role for role in launch.nodes[0].roles if role.name == cause.role), None)


def told(head: str, cause: Cause, running: Running, launch: LaunchPlan) -> Iterator[str]:
    """The lines to print: ``head``, the last ones of the role, why it failed, and where all of them are."""
    lines = running.last_lines(cause.role) if cause.role else ()
    yield f"{head}. Its last lines:" if lines else head
    yield from (f"  | {line}" for line in lines)
    if cause.why:
        yield f"why: {cause.why}"
    if (role := failed(cause, launch)) is not None:
        yield f"its full output is in {role.log}"
