"""Course: a block made ready for one scope, one feed and one list of fetches, and the blocks within it.

Engine segments and host operators come in the order of the block; a host operator that has a block of its own
(a loop, a branch) runs that on the same values. It must never know who asked.

Guarantees: a block is made ready once, however often it goes round; a course keeps no program alive, host
operators are places in the block that it is called with.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from paddle._program.description.block import Block, blocks_of
from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import row
from paddle._program.lowering.segments import Piece, Stage, stages
from paddle._program.lowering.taped import Taped
from paddle._program.lowering.updates import is_update
from paddle._program.moving.turns import Lock
from paddle._program.running.finite import check_given, check_gradients
from paddle._program.running.host import Host
from paddle._program.running.scope import Scope
from paddle._program.running.sized_run import Runner, SizedRun
from paddle._program.running.taken import Taken, Told, go_back
from paddle._program.running.tape import Tape
from paddle._program.upstream_flags import checks_finite

Values = MutableMapping[str, Any]
_Stage = Taken | Taped | int


class Course:
    """See the module's text. ``lock``: of all threads that run the block, each by a course of its own. Where
    there is one, they compute at the same time, and whatever counts is done under it. ``asks_host``: whether
    host operators are part of it, which may give arrays that others hold."""

    def __init__(
        self,
        block: Block,
        scope: Scope,
        fed: Sequence[str],
        fetched: Sequence[str],
        lock: Lock | None = None,
    ) -> None:
        is_parted = lock is not None and block.parent_idx < 0
        self._scope, self._lock = scope, lock
        program = block.program
        outlives = frozenset(each.name for each in program.list_vars() if each.persistable)
        runner = Runner(scope, program._carrier, outlives, lock)

        def made(several: Sequence[Stage]) -> Iterator[_Stage]:
            for each in several:
                if isinstance(each, Piece):
                    yield Taken(each, block, runner)
                    yield from each.watched
                else:
                    yield each

        ahead, computed, behind = stages(block, fed, fetched, is_parted)
        turn = lock if is_parted else None
        several = ((turn, ahead), (None, computed), (turn, behind))
        self._parts = [(held, list(made(part))) for held, part in several if part]
        self._goes_back = any(isinstance(each, Taped) for each in computed)
        self._only = _only(self._parts)
        self.asks_host = any(isinstance(each, int) for _, part in self._parts for each in part)
        self._inner: dict[int, Course] = {}

    def __call__(
        self, block: Block, values: Values, seed: int, step: int, samples: int, tape: Tape | None = None
    ) -> None:
        """Run it on the values of a run, and add what it gives. ``block``: that it was made of. ``tape``:
        where what is done is noted."""
        if self._only is not None and tape is None:
            self._only(block, values, seed, step, samples)
            return
        told = Told(seed, step, samples, Tape() if tape is None and self._goes_back else tape)
        for turn, part in self._parts:
            if turn is None:
                self._run(part, block, values, told)
            else:
                with turn:
                    self._run(part, block, values, told)

    def _run(self, part: Sequence[_Stage], block: Block, values: Values, told: Told) -> None:
        for stage in part:
            if isinstance(stage, Taken):
                stage(block, values, told)
            elif isinstance(stage, Taped):
                host = Host(block, self._scope, values, told.seed, told.step)
                go_back(stage, host, told)
                if checks_finite():
                    check_gradients(host, stage.wanted)
            else:
                self._on_host(block, block.ops[stage], values, told)

    def _on_host(self, block: Block, op: Operator, values: Values, told: Told) -> None:
        def run_block(inner: Block) -> None:
            known = self._inner.get(inner.idx)
            if known is None:
                known = self._inner[inner.idx] = Course(
                    inner, self._scope, (), _given_back(inner), self._lock
                )
            known(inner, values, told.seed, told.step, told.samples, told.tape)

        rule = row(op.type).host
        assert rule is not None
        host = Host(block, self._scope, values, told.seed, told.step, run_block)
        try:
            if told.tape is None or blocks_of(op):  # whose blocks note themselves what they do
                rule(host, op)
            else:
                told.tape.does(op, host, rule)
            if checks_finite():
                check_given(host, op, op.output_arg_names)
        except Exception as error:
            error.add_note(f"in operator {op.type!r}, written at {op.where}")
            raise


def _only(parts: Sequence[tuple[Lock | None, Sequence[_Stage]]]) -> SizedRun | None:
    """The segment that is all there is to run, as of most programs; None where there is more."""
    stages = [stage for turn, part in parts for stage in part if turn is None]
    only = stages[0] if len(stages) == 1 and len(parts) == 1 else None
    return only.alone if isinstance(only, Taken) else None


def _given_back(block: Block) -> list[str]:
    """What operators of a block write that is declared outside it."""
    written = (name for op in block.ops if not is_update(op) for name in op.output_arg_names)
    return [name for name in dict.fromkeys(written) if name not in block.vars]
