"""``read``: takes a batch of a reader. An executor does that before a run begins (reading/turns.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle._program.lowering.op_rows import hosts

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator
    from paddle._program.running.host import Host


def _as_described(op: Operator) -> None:
    """What is read into has been described by who made the reader."""


@hosts("read", infer=_as_described)
def _read(host: Host, op: Operator) -> None:
    """The run was fed it."""
