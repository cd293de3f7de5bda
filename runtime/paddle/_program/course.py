"""Course: a block made ready for one scope, one feed and one list of fetches, and the blocks within it.

Engine segments and host operators come in the order of the block; a host operator that has a block of its own
(a loop, a branch) runs that on the same values. It must never know who asked.

Guarantee: a block is made ready once, however often it goes round.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from threading import Lock
from typing import Any

from paddle._program.block import Block
from paddle._program.host import Host
from paddle._program.op_rows import row
from paddle._program.operator import Operator
from paddle._program.running import SegmentRun
from paddle._program.scope import Scope
from paddle._program.segments import Segment, stages
from paddle._program.updates import is_update

Values = MutableMapping[str, Any]


class Course:
    """See the module's text. ``lock``: see SegmentRun."""

    def __init__(
        self,
        block: Block,
        scope: Scope,
        fed: Sequence[str],
        fetched: Sequence[str],
        lock: Lock | None = None,
    ) -> None:
        self._block, self._scope, self._lock = block, scope, lock
        program = block.program
        outlives = frozenset(each.name for each in program.list_vars() if each.persistable)
        self._stages: list[SegmentRun | Operator] = []
        for each in stages(block, fed, fetched):
            if isinstance(each, Segment):
                self._stages += [SegmentRun(each, scope, program._carrier, outlives, lock), *each.watched]
            else:
                self._stages.append(each)
        self._inner: dict[int, Course] = {}

    def __call__(self, values: Values, seed: int, step: int, samples: int) -> None:
        """Run it on the values of a run, and add what it gives."""
        for stage in self._stages:
            if isinstance(stage, SegmentRun):
                stage(values, seed, step, samples)
            else:
                self._on_host(stage, values, seed, step, samples)

    def _on_host(self, op: Operator, values: Values, seed: int, step: int, samples: int) -> None:
        def run_block(block: Block) -> None:
            known = self._inner.get(block.idx)
            if known is None:
                known = self._inner[block.idx] = Course(
                    block, self._scope, (), _given_back(block), self._lock
                )
            known(values, seed, step, samples)

        rule = row(op.type).host
        assert rule is not None
        try:
            rule(Host(self._block, self._scope, values, seed, step, run_block), op)
        except Exception as error:
            error.add_note(f"in operator {op.type!r}, written at {op.where}")
            raise


def _given_back(block: Block) -> list[str]:
    """What operators of a block write that is declared outside it."""
    written = (name for op in block.ops if not is_update(op) for name in op.output_arg_names)
    return [name for name in dict.fromkeys(written) if name not in block.vars]
