"""Segments: a block made ready to run: engine programs, and the host operators between them.

A block of lowered operators alone is one segment. It must never know who runs it or how often.

Guarantees: operators have their effects in the order in which they were written; a segment that takes
gradients begins with all that was lowered before it, so that these go all the way back. A pass of gradients
that cannot, as it goes through operators of the host, is a stage of its own: it goes back along what was run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paddle._engine.program import Parameter as EngineParameter
from paddle._engine.program import Shape
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.block import Block, reads_of
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.errors import BadFeed
from paddle._program.lowering.ahead import cut_at_ids, ids_ahead, rates_ahead
from paddle._program.lowering.counting import counted_apart
from paddle._program.lowering.lowering import Lowering, sparse_tables
from paddle._program.lowering.op_rows import is_lowered, row
from paddle._program.lowering.passes import Pass, passes, taken_again, through_host
from paddle._program.lowering.states import first_reads, noted, states_of, writes_of, written_over
from paddle._program.lowering.taped import Taped
from paddle._program.lowering.telling import GIVEN, Told, ends_ahead_of, sizes_ahead, tells_by_value, told
from paddle._program.lowering.updates import (
    UPDATES,
    Group,
    groups,
    in_turn,
    is_update,
    moved_at,
    own_rates,
    rates_of,
)
from paddle._program.lowering.value import Lowered

_IGNORED = GIVEN | {"fetch", "average_accumulates"}
ONCE = frozenset({"auc"})
"""Operators that change what they count in, and that no gradient goes through: none is computed twice."""
_SHOWING = frozenset({"print"})
"""Operators that are lowered to nothing, and show a value on the host when its segment has run."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Engine work. ``keeps``: names whose values the run, or the scope, needs afterwards."""

    lowered: Lowered
    groups: tuple[Group, ...]
    keeps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """What becomes a segment. ``ops``: its operators, and those before it that it computes again.
    ``watched``: those that show values of it to people, when they are there. ``states``: those that its own
    read first; ``recalls``: of an earlier piece, by the place of its first operator, those that are computed
    again with what it noted of them; ``is_recalled``: whether another piece does so with this one's.
    ``tells``: what it is told as sizes; ``says``: of that, what its own operators find computed. All are
    places in the block, so that a piece keeps no program alive."""

    ops: tuple[int, ...]
    own: tuple[int, ...]
    watched: tuple[int, ...]
    fed: frozenset[str]
    wanted: frozenset[str]
    states: tuple[str, ...] = ()
    recalls: tuple[tuple[int, tuple[str, ...]], ...] = ()
    is_recalled: bool = False
    tells: tuple[str, ...] = ()
    says: tuple[Told, ...] = ()

    def of(self, block: Block) -> list[Operator]:
        """Its operators."""
        return [block.ops[place] for place in self.ops]

    def lower(
        self,
        block: Block,
        sizes: Mapping[str, Shape] | None = None,
        told: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Segment:
        """The segment; ``sizes`` and ``told``: of what comes from outside, see Lowering."""
        return _segment(self, block, Lowering(block, self.fed, self.wanted, sizes=sizes, told=told))


Stage = Piece | Taped | int
"""A piece, a pass that goes back along what was run, or the place of a host operator."""

_Part = list[Operator] | Operator | Pass


def stages(
    block: Block, fed: Collection[str], fetched: Sequence[str], counts_apart: bool = False
) -> tuple[list[Stage], list[Stage], list[Stage]]:
    """The stages of a block that is fed and asked for these names: those of learning rates, which go ahead,
    then all others; the last of these, where ``counts_apart``, are all that count (counting.py)."""
    _check_fetches(block, fed, fetched)
    first, rest = rates_ahead(in_turn(op for op in block.ops if op.type not in _IGNORED))
    rest, counting = (counted_apart(rest) if counts_apart else None) or (rest, [])
    rates, last = _pieces(first), _pieces(counting)
    parts, alone = _in_order(block, rates, rest, last)
    staging = _Staging(block, fed, fetched, taken_again(rest))
    each = enumerate(parts)
    found = _marked([staging.stage(part, parts[at + 1 :], is_alone=at in alone) for at, part in each])
    behind = len(found) - len(last)
    return found[: len(rates)], found[len(rates) : behind], found[behind:]


class _Staging:
    """Makes a stage of each part, in their order, and remembers what those that take gradients are to compute
    again. ``taken_again``: ids of operators that are, whatever they do."""

    def __init__(
        self, block: Block, fed: Collection[str], fetched: Sequence[str], taken_again: Collection[int]
    ) -> None:
        self._fed, self._fetched, self._taken_again = fed, fetched, taken_again
        self._states = states_of(block)
        self._written_over, self._made = written_over(block) - self._states, set[str]()
        self._place_of = {id(op): place for place, op in enumerate(block.ops)}
        self._before: list[Operator] = []
        self._recalls: dict[int, tuple[str, ...]] = {}

    def stage(self, part: _Part, later: Sequence[_Part], *, is_alone: bool) -> Stage:
        """``later``: the parts behind it. ``is_alone``: no gradient goes back through it."""
        if isinstance(part, Operator):
            self._made.difference_update(writes_of(part))
            return self._place_of[id(part)]
        wanted = frozenset(self._fetched).union(*map(_read_by, later))
        if isinstance(part, Pass):
            return Taped.of(part, wanted)
        piece = self._piece(part, wanted)
        self._made.update(name for op in part for name in writes_of(op))
        if not is_alone:
            if piece.states:
                self._recalls[piece.own[0]] = piece.states
            self._before += [op for op in part if _is_computed_again(op) or id(op) in self._taken_again]
        return piece

    def _piece(self, own: Sequence[Operator], wanted: frozenset[str]) -> Piece:
        again = self._before if any(op.role == BACKWARD for op in own) else []
        ops = [*again, *own]
        made = {name for op in again for name in op.output_arg_names}
        return Piece(
            ops=self._places(ops),
            own=self._places(own),
            watched=self._places([op for op in own if op.type in _SHOWING]),
            fed=frozenset(name for name in self._fed if name not in made),
            wanted=wanted,
            states=first_reads(own, self._states | (self._written_over - self._made)),
            recalls=tuple(self._recalls.items()) if again else (),
            tells=tuple(dict.fromkeys(size.key for op in ops for size in told(op))),
            says=tuple(dict.fromkeys(size for op in own for size in told(op) if tells_by_value(size))),
        )

    def _places(self, ops: Sequence[Operator]) -> tuple[int, ...]:
        return tuple(self._place_of[id(op)] for op in ops)


def _in_order(
    block: Block, rates: Sequence[_Part], rest: Sequence[Operator], last: Sequence[_Part]
) -> tuple[list[_Part], set[int]]:
    """All parts, sizes and ids ahead of who needs them; and which are pieces that no gradient goes back
    through."""
    ahead, tables = sizes_ahead(rest), sparse_tables(block.program)
    pieces: list[_Part] = [*rates, *([ahead] if ahead else [])]
    alone = set(range(len(pieces)))
    for each in _cut(_pieces(rest, {id(op) for op in ahead}), rest, tables):
        ids, others = ids_ahead(each, tables) if isinstance(each, list) else ([], each)
        if ids:
            alone.add(len(pieces))
            pieces.append(ids)
        pieces.append(others)
    return [*pieces, *last], alone


def _cut(parts: Sequence[_Part], ops: Sequence[Operator], tables: Collection[str]) -> Iterator[_Part]:
    """The parts of a block of ``ops``, cut where look-ups of ``tables`` need what they compute."""
    stays = not tables or any(op.role == BACKWARD for op in ops)
    for each in parts:
        if stays or not isinstance(each, list):
            yield each
        else:
            yield from cut_at_ids(each, tables)


def _marked(found: Sequence[Stage]) -> list[Stage]:
    """The same; pieces whose states are computed with again know it."""
    recalled = {place for each in found if isinstance(each, Piece) for place, _ in each.recalls}
    return [
        replace(each, is_recalled=True) if isinstance(each, Piece) and each.own[0] in recalled else each
        for each in found
    ]


def _segment(piece: Piece, block: Block, low: Lowering) -> Segment:
    own, watched = ([block.ops[place] for place in places] for places in (piece.own, piece.watched))
    operators, count = piece.of(block), len(piece.ops) - len(piece.own)
    replaced = _replaced(piece, block) if count else {}
    low.again = True
    low.lower(operators[:count], _recalled(piece, block), replaced)
    low.again = False
    for name in {name for _, names in piece.recalls for name in names}:
        low.env.pop(name, None)  # its own operators read what the state is now
    low.lower(operators[count:], replaced=replaced)
    wanted = piece.wanted | {name for op in watched for name in op.input_arg_names}
    written = dict.fromkeys(n for op in own if not is_update(op) for n in op.output_arg_names)
    keeps = tuple(
        name
        for name in written
        if name in low.env and (name in wanted or (_outlives(block, name) and not _is_changed(low, name)))
    )
    moved = groups(block, low.updates, sparse_tables(block.program))
    lowered = low.finish(keeps)
    if moved:
        _append_exchange(low, moved)
    return Segment(lowered, tuple(moved), keeps)


def _recalled(piece: Piece, block: Block) -> dict[int, dict[str, str]]:
    """By the ids of operators that are computed again, the names under which they find states."""
    again, found = piece.ops[: len(piece.ops) - len(piece.own)], {}
    for place, names in piece.recalls:
        first = next((each for each in again if each >= place), None)
        if first is not None:
            found[id(block.ops[first])] = {name: noted(name, place) for name in names}
    return found


def _replaced(piece: Piece, block: Block) -> dict[int, set[str]]:
    """By the ids of operators, what is computed again ahead of them, and was written over since by others,
    such as a loop of the host."""
    known, found = {*piece.ops}, {}
    made: set[str] = set()
    written: set[str] = set()
    for place in range(piece.own[0] + 1):
        op = block.ops[place]
        if place in known:
            if names := made & written:
                found[id(op)] = names
            made.update(writes_of(op))
            written = set()
        elif op.role != BACKWARD and not is_update(op):
            written.update(writes_of(op))
    return found


def _is_changed(low: Lowering, name: str) -> bool:
    """Whether operators have changed it where it lies, so that nobody has to write it back."""
    return isinstance(low.env[name].variable, EngineParameter)


def _append_exchange(low: Lowering, moved: Sequence[Group]) -> None:
    from paddle._engine.autodiff import append_exchange

    names = {name for group in moved for name in group.names}
    pairs = []
    for op in low.updates:
        name = op.input("Param")[0]
        parameter = low.value(name).variable
        if name in names and isinstance(parameter, EngineParameter):
            pairs.append((parameter, _that_fits(low, parameter, low.input(op, "Grad").variable)))
    append_exchange(low.builder.program, pairs)


def _that_fits(low: Lowering, parameter: EngineParameter, gradient: EngineVariable) -> EngineVariable:
    """The gradient of a parameter: rows of one that is dense, since others read all of it, are laid out."""
    if parameter.spec.sparse or gradient.kind != "rows":
        return gradient
    zeros = {"shape": gradient.shape, "value": 0.0, "dtype": gradient.dtype}
    return low.op("sum", X=[low.op("fill_constant", zeros), gradient])


def _pieces(ops: Sequence[Operator], ahead: Collection[int] = ()) -> list[_Part]:
    """Runs of lowered operators, and host operators; a run ends where a moved parameter is read or moved
    again, where one is moved that it has written, or at a rate that it has, or a size is read that it has
    computed, unless that was done ``ahead``. A pass is within one run, of values as they were when that
    began; those that go through the host stand alone."""
    pieces: list[_Part] = []
    moved: set[str] = set()
    written: set[str] = set()
    on_host, taped = _is_of_host(ops), through_host(ops)
    own = own_rates(ops[0].block) if ops else {}
    within, moves = _of_passes(ops)
    for op in ops:
        alone = taped.get(id(op), op) if op.role == BACKWARD else op
        if on_host(op) or isinstance(alone, Pass):
            if not pieces or pieces[-1] is not alone:
                pieces.append(alone)
            moved = set()
            continue
        of_moved = moves[id(op)] if id(op) in moves else _moved(op) if is_update(op) else reads_of(op)
        ends = not moved.isdisjoint(of_moved) or ends_ahead_of(op, written, ahead)
        ends = ends or (is_update(op) and not written.isdisjoint([*of_moved, *rates_of(own, op)]))
        if not pieces or not isinstance(pieces[-1], list) or (ends and id(op) not in within):
            pieces.append([])
            moved, written = set(), set()
        piece = pieces[-1]
        assert isinstance(piece, list)
        piece.append(op)
        written.update(writes_of(op))
        moved.update(_moved(op))
    return pieces


def _moved(op: Operator) -> list[str]:
    """The parameters that are moved where it stands."""
    return [name for each in moved_at(op) for name in each.input("Param")]


def _of_passes(ops: Sequence[Operator]) -> tuple[set[int], dict[int, set[str]]]:
    """The ids of operators that a pass goes on with; by that of the first of each, what is moved by it."""
    firsts = {id(each.ops[0]) for each in passes(ops)}
    within = {id(op) for each in passes(ops) for op in each.ops[1:]}
    moves: dict[int, set[str]] = {}
    own: set[str] = set()
    for op in ops:
        if id(op) in firsts:
            own = moves[id(op)] = set()
        own.update(_moved(op))
    return within, moves


def _is_of_host(ops: Sequence[Operator]) -> Callable[[Operator], bool]:
    """Which operators are computed on the host: those that are not lowered, and of those that may be both the
    ones that give first values, which follow from a seed and a name, and all of a program of such alone."""
    trains = any(op.role == BACKWARD or op.type in UPDATES for op in ops)
    lowered_only = any(
        is_lowered(op) and not row(op.type).host
        for op in ops
        if op.type not in UPDATES and op.role != BACKWARD
    )

    def is_it(op: Operator) -> bool:
        if op.role == BACKWARD or op.type in UPDATES or row(op.type).host is None:
            return False
        if not is_lowered(op):
            return True
        return not trains and (not lowered_only or any(_outlives(op.block, n) for n in op.output_arg_names))

    return is_it


def _read_by(piece: _Part) -> list[str]:
    """The names whose values a piece reads: a pass, those of its targets and of their gradients."""
    if isinstance(piece, Pass):
        return [*piece.seeds, *(name for op in piece.seeds.values() for name in op.input_arg_names)]
    ops = [piece] if isinstance(piece, Operator) else piece
    moves = [op for op in ops if is_update(op)]
    own = own_rates(moves[0].block) if moves else {}
    return [name for op in ops for name in reads_of(op)] + [n for op in moves for n in rates_of(own, op)]


def _is_computed_again(op: Operator) -> bool:
    """Whether it stands in each segment that takes gradients of what comes after it."""
    return op.role != BACKWARD and not is_update(op) and op.type not in ONCE


def _outlives(block: Block, name: str) -> bool:
    described = block._find_var_recursive(name)
    return described is not None and described.persistable


def _check_fetches(block: Block, fed: Collection[str], fetched: Sequence[str]) -> None:
    made = {name for op in block.ops for name in op.output_arg_names}
    for name in fetched:
        described = block._find_var_recursive(name)
        if described is None:
            near = ", ".join(list(block.vars)[:20])
            raise BadFeed(
                f"fetch_list names {name!r}, which is not a variable of this program; it has {near}..."
            )
        if name not in made and name not in fed and not described.persistable:
            raise BadFeed(
                f"fetch_list names {name!r}, which no operator of this program makes, nor is it fed: was "
                "the program cloned or pruned before that was appended?"
            )
