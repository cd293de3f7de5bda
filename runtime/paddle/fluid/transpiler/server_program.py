"""The programs of a parameter server: what it listens for, and what it does with what comes.

They show the original's operators: ``listen_and_serv``, and in blocks of their own the updates, each for the
blocks of parameters that the server is shown with. It must never know more of a trainer's program
than its updates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paddle._program.carrier import living_on
from paddle._program.description.block import Block
from paddle._program.description.operator import DIST, LR_SCHED, OPTIMIZE, RPC, Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import GRAD_SUFFIX
from paddle._program.files.beginnings import Beginning
from paddle._program.lowering.updates import is_talk
from paddle.fluid.transpiler.blocks import Piece, pieces
from paddle.fluid.transpiler.ps_dispatcher import PSDispatcher


@dataclass(frozen=True, slots=True)
class Kept:
    """A parameter, the operator that updates it, and the blocks that programs show, each with its server."""

    name: str
    gradient: str
    dtype: Any
    update: Operator
    pieces: list[Piece]
    gradients: list[Piece]
    endpoints: list[str]


@dataclass(frozen=True, slots=True)
class Served:
    """All that servers keep. ``schedule``: the operators that compute learning rates."""

    program: Program
    kept: list[Kept]
    endpoints: list[str]
    schedule: list[Operator]
    trainers: int
    sync: bool

    @classmethod
    def of(
        cls,
        program: Program,
        updates: Sequence[Operator],
        dispatcher: PSDispatcher,
        *,
        least: int,
        slices: int,
        trainers: int,
        sync: bool,
    ) -> Served:
        """Cut and place what ``updates`` move."""
        block, kept = program.global_block(), []
        for op in updates:
            parameter = block.var(op.input("Param")[0])
            own = pieces(parameter, slices, least)
            gradients = pieces(parameter, slices, least, GRAD_SUFFIX)
            places = dispatcher.dispatch(gradients)
            gradient = op.input("Grad")[0]
            kept.append(Kept(parameter.name, gradient, parameter.dtype, op, own, gradients, places))
        schedule = [op for op in block.ops if op.role & LR_SCHED]
        return cls(program, kept, list(dispatcher.eps), schedule, trainers, sync)

    def by_endpoint(self) -> dict[str, dict[str, list[str]]]:
        """The blocks of every server, by name."""
        found: dict[str, dict[str, list[str]]] = {
            each: {"params": [], "grads": []} for each in self.endpoints
        }
        for kept in self.kept:
            for piece, gradient, endpoint in zip(kept.pieces, kept.gradients, kept.endpoints, strict=True):
                found[endpoint]["params"].append(piece.name)
                found[endpoint]["grads"].append(gradient.name)
        return found

    def own(self, endpoint: str) -> list[tuple[Kept, int]]:
        """The blocks of one server, as parameters and their numbers."""
        return [
            (kept, number)
            for kept in self.kept
            for number, place in enumerate(kept.endpoints)
            if place == endpoint
        ]

    def beginning(self, endpoint: str) -> Beginning:
        """What the server there begins with, where its program loads it: nothing yet."""
        lives = living_on(self.endpoints.index(endpoint), len(self.endpoints))
        shown = {kept.name: [piece.name for piece in kept.pieces] for kept in self.kept}
        return Beginning(self.program, [kept.update for kept in self.kept], shown, lives)


def server_program(served: Served, endpoint: str) -> Program:
    """The program of the server at ``endpoint``."""
    program = Program()
    program.random_seed = served.program.random_seed
    block, origin = program.global_block(), served.program.global_block()
    blocks: list[Block] = []
    if served.schedule:
        blocks.append(_block(program, [_shown(op, {}, origin, block) for op in served.schedule]))
    numbers = []
    received = []
    for kept, number in served.own(endpoint):
        gradient = kept.gradients[number].name
        received.append(gradient)
        made = _block(program, _update(served, kept, number, block))
        numbers.append(f"{gradient}:{made.idx}")
        blocks.append(made)
    if not numbers:
        blocks.append(_block(program, []))
    attrs = {
        "endpoint": endpoint,
        "Fanin": served.trainers,
        "sync_mode": served.sync,
        "distributed_mode": 0 if served.sync else 1,
        "optimize_blocks": blocks,
        "grad_to_block_id": numbers,
        "pserver_id": served.endpoints.index(endpoint),
        "op_role": RPC,
    }
    for name in received:
        block.create_var(name, persistable=True)
    block.append_op("listen_and_serv", {"X": received}, {}, attrs)
    return program


def server_startup(served: Served, endpoint: str, origin: Program) -> Program:
    """What the server at ``endpoint`` runs before: it makes its learning rates and other small variables. It
    shows, too, how its blocks and what their rule remembers begin, which the exchange sees to."""
    program = Program()
    program.random_seed = origin.random_seed
    block, before = program.global_block(), origin.global_block()
    wanted = {name for op in served.schedule for name in op.input_arg_names}
    wanted |= {name for kept, _ in served.own(endpoint) for name in kept.update.input("LearningRate")}
    begun = [each for kept, number in served.own(endpoint) for each in _declared(served, kept, number, block)]
    for op in before.ops:
        if is_talk(op):
            continue
        if not wanted.isdisjoint(op.output_arg_names):
            _shown(op, {}, before, block)
            block.ops.append(_twin(op, block, {}))
        block.ops += [_begins(op, *each, block) for each in begun if each[0] in op.output_arg_names]
    program._bump()
    return program


def _declared(served: Served, kept: Kept, number: int, block: Block) -> Iterator[tuple[str, Piece]]:
    """A block and what the rule remembers of it: under which names the trainer's program has the whole, and
    what the server keeps, which is declared."""
    origin, piece = served.program.global_block(), kept.pieces[number]
    whole = tuple(origin.var(kept.name).shape)
    block.create_var(piece.name, shape=piece.shape, dtype=kept.dtype, persistable=True)
    yield kept.name, piece
    for slot, names in kept.update.inputs.items():
        if slot in ("Param", "Grad", "LearningRate"):
            continue
        for described in (origin.var(name) for name in names):
            shape = piece.shape if tuple(described.shape) == whole else tuple(described.shape)
            block.create_var(described.name, shape=shape, dtype=described.dtype, persistable=True)
            yield described.name, Piece(described.name, shape)


def _begins(op: Operator, name: str, piece: Piece, block: Block) -> Operator:
    made = _twin(op, block, {name: piece.name})
    made.attrs["op_role"] = DIST
    if "shape" in made.attrs:
        made.attrs["shape"] = list(piece.shape)
    return made


def _block(program: Program, ops: Sequence[Operator]) -> Block:
    made = program._create_block(0)
    program._rollback()
    for op in ops:
        op.block = made
        made.ops.append(op)
    return made


def _update(served: Served, kept: Kept, number: int, block: Block) -> list[Operator]:
    """The gradients of all trainers become one, which updates the block."""
    piece, gradient = kept.pieces[number], kept.gradients[number]
    names = {kept.name: piece.name, kept.gradient: gradient.name}
    origin = served.program.global_block()
    for each in (piece, gradient):
        block.create_var(each.name, shape=each.shape, dtype=kept.dtype, persistable=True)
    ops = []
    if served.sync and served.trainers > 1:
        parts = [f"{gradient.name}.trainer_{id}" for id in range(served.trainers)]
        for name in parts:
            block.create_var(name, shape=gradient.shape, dtype=kept.dtype, persistable=True)
        attrs = {"op_role": OPTIMIZE}
        ops.append(Operator(block, "sum", {"X": parts}, {"Out": [gradient.name]}, dict(attrs)))
        share = {"scale": 1.0 / served.trainers, "bias": 0.0, "bias_after_scale": True, **attrs}
        ops.append(Operator(block, "scale", {"X": [gradient.name]}, {"Out": [gradient.name]}, share))
    return [*ops, _shown(kept.update, names, origin, block)]


def _shown(op: Operator, names: dict[str, str], origin: Block, block: Block) -> Operator:
    """The operator with other names, and its variables declared."""
    for name in (*op.input_arg_names, *op.output_arg_names):
        described = origin._find_var_recursive(name)
        if name not in names and described is not None:
            block.create_var(
                name, shape=described.shape, dtype=described.dtype, persistable=described.persistable
            )
    return _twin(op, block, names)


def _twin(op: Operator, block: Block, names: dict[str, str]) -> Operator:
    inputs = {slot: [names.get(name, name) for name in several] for slot, several in op.inputs.items()}
    outputs = {slot: [names.get(name, name) for name in several] for slot, several in op.outputs.items()}
    return Operator(block, op.type, inputs, outputs, dict(op.attrs))
