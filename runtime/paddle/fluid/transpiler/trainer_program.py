"""The program of a trainer: its update operators become what it tells the servers.

It must never know what a server does. Guarantee: each update operator stands behind exactly one ``send``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.open_tables import LOOKUPS
from paddle._program.description.operator import DIST, RPC, Operator
from paddle._program.description.program import Program
from paddle.fluid.transpiler.server_program import Kept, Served


def rewrite(program: Program, startup: Program, served: Served, trainer_id: int) -> None:
    """Replace the update operators of ``program``; ``startup``, that comes before it, receives, too."""
    block = program.global_block()
    gone = {id(each.update) for each in served.kept}
    block.ops = [op for op in block.ops if id(op) not in gone]
    tables = _tell_lookups(program, served, trainer_id)
    with program._role_guard(RPC):
        for turn, each in enumerate(served.kept):
            _send(program, each, served, trainer_id, is_of_rows=each.name in tables, turn=turn)
        shared = {"endpoints": served.endpoints, "trainer_id": trainer_id}
        if served.sync:
            block.append_op("send_barrier", {}, {}, shared)
        dense = [each for each in served.kept if each.name not in tables]
        for each in dense:
            _receive(program, each, trainer_id, after=[f"{each.gradient}@DUMMY"])
        if served.sync:
            block.append_op("fetch_barrier", {}, {}, shared)
    _join(program, dense)
    _tell_startup(startup, dense, shared)
    program._bump()


def _tell_startup(startup: Program, dense: Sequence[Kept], shared: dict[str, Any]) -> None:
    """First values come from trainer 0, so that others receive them, too."""
    with startup._role_guard(RPC):
        for each in dense:
            _receive(startup, each, shared["trainer_id"], after=[])
        startup.global_block().append_op("fetch_barrier", {}, {}, shared)
    _join(startup, dense)
    startup._bump()


def _join(program: Program, dense: Sequence[Kept]) -> None:
    """Of blocks, the parameters."""
    with program._role_guard(DIST):
        for each in (each for each in dense if len(each.pieces) > 1):
            names = [piece.name for piece in each.pieces]
            program.global_block().append_op("concat", {"X": names}, {"Out": [each.name]}, {"axis": 0})


def _send(
    program: Program, kept: Kept, served: Served, trainer_id: int, *, is_of_rows: bool, turn: int
) -> None:
    """Behind the operator that makes the gradient."""
    block, gradient = program.global_block(), kept.gradient
    makers = [at for at, op in enumerate(block.ops) if gradient in op.output_arg_names]
    at = makers[-1] + 1 if makers else len(block.ops)
    parts = [piece.name for piece in kept.gradients]
    if len(parts) > 1:
        for piece in kept.gradients:
            block.create_var(piece.name, shape=piece.shape, dtype=kept.dtype)
        heights = [piece.shape[0] for piece in kept.gradients]
        type, says = ("split_selected_rows", "height_sections") if is_of_rows else ("split_byref", "sections")
        block._insert_op(at, type, {"X": [gradient]}, {"Out": parts}, {says: heights})
        at += 1
    dummy = block.create_var(f"{gradient}@DUMMY", shape=(1,), dtype=kept.dtype)
    attrs = {
        "epmap": kept.endpoints,
        "sync_mode": served.sync,
        "trainer_id": trainer_id,
        "op_role_var": [kept.name, gradient],
    }
    made: Operator = block._insert_op(at, "send", {"X": parts}, {"Out": [dummy.name]}, attrs)
    made.moves, made.turn = (kept.update,), turn


def _receive(program: Program, kept: Kept, trainer_id: int, *, after: list[str]) -> None:
    block, names = program.global_block(), [piece.name for piece in kept.pieces]
    attrs = {
        "epmap": kept.endpoints,
        "trainer_id": trainer_id,
        "recv_varnames": names,
        "op_role_var": [kept.name, kept.gradient],
    }
    for piece in kept.pieces:
        if not block.has_var(piece.name):
            block.create_var(piece.name, shape=piece.shape, dtype=kept.dtype)
    block.append_op("recv", {"X": after}, {"Out": names}, attrs)


def _tell_lookups(program: Program, served: Served, trainer_id: int) -> set[str]:
    """Rows of tables are fetched from servers when a batch asks for them. Gives the names of these."""
    tables, found = {each.name: each for each in served.kept}, set()
    for op in (op for block in program.blocks for op in block.ops if op.type in LOOKUPS):
        table = tables.get(op.input("W")[0])
        if table is not None and (op.attrs.get("is_sparse") or op.attrs.get("is_distributed")):
            op.attrs.update(
                remote_prefetch=True,
                epmap=table.endpoints,
                table_names=[piece.name for piece in table.pieces],
                trainer_id=trainer_id,
            )
            found.add(table.name)
    return found


def distributed_table(program: Program) -> str | None:
    """The table of which servers have rows each, by ``is_distributed``; None where there is none."""
    lookups = (op for block in program.blocks for op in block.ops if op.type in LOOKUPS)
    return next((op.input("W")[0] for op in lookups if op.attrs.get("is_distributed")), None)
