"""Tables: the values of one shard, their optimizer state, and a step's gradients applied to them.

Dense values are one flat array, in the canonical order of placement.py; every sparse table keeps the shard's
rows of it (packed_table.py). It must never know who sent a gradient or when a step is due.

Guarantee: gradients are added in the order given, and clipped, scaled and applied element by element, so that
neither arrival order nor the number of shards changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paddle._engine.arena import zeros
from paddle._engine.exchange import UpdateSpec
from paddle._engine.schedules import schedule
from paddle._pserver.errors import BadMessage
from paddle._pserver.memory.shown import Shown
from paddle._pserver.protocol.placement import DenseLayout, RowRange
from paddle._pserver.tables.blocks import Blocks, stretches
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.frozen import WORTH_BYTES
from paddle._pserver.tables.gradient import Gradient
from paddle._pserver.tables.live import Live, Lives
from paddle._pserver.tables.packed_table import PackedTable
from paddle._pserver.tables.scratch import Scratch
from paddle._pserver.tables.slots import fill
from paddle._pserver.tables.sparse_table import SparseTable
from paddle._pserver.tables.streamed import Array
from paddle._pserver.tables.table_room import TableRoom

if TYPE_CHECKING:
    from paddle._pserver.tables.hash_table import HashTable


_AT_ONCE = 1 << 16  # numbers that are added up while they are in cache


class Cut(NamedTuple):
    """The state of tables at one moment: arrays by kind and parameter, as in ``values/w``. ``room``: of what
    they take of memory."""

    arrays: dict[str, Array]
    room: CutRoom


class Tables:
    """All that one shard keeps. ``rows``: its tables as declared, the ``packed`` and the ``open`` ones.

    ``room_bytes``: what the open ones may come to need; ``cut_bytes``: what a cut may, where these
    leave so much of that. ``shown``: where the dense values are seen by others.
    """

    def __init__(
        self,
        update: UpdateSpec,
        layout: DenseLayout,
        ranges: Sequence[RowRange],
        room_bytes: int = 1 << 62,
        shown: Shown | None = None,
        cut_bytes: Callable[[int], int] = lambda left_bytes: left_bytes,
    ) -> None:
        self.layout = layout
        self.room, self._cut_bytes = TableRoom(room_bytes), cut_bytes
        self.shown = shown
        self.values = zeros((layout.size,)) if shown is None else shown.values
        scratch, declared = Scratch(), [held for held in ranges if not held.parameter.is_open]
        self.packed = {held.parameter.name: PackedTable(held, update, scratch) for held in declared}
        self.open = _open(update, ranges, self.room)
        both: dict[str, SparseTable] = {**self.packed, **self.open}
        self.rows = {held.parameter.name: both[held.parameter.name] for held in ranges}
        self._stretches = stretches(layout.segments, update, self.values)
        self._blocks = [blocks for stretch in self._stretches for blocks in stretch.blocks]
        self._learning_rate = schedule(update.schedule)
        self.is_averaged = update.average is not None
        self._mean = update.reduce == "mean"
        self._total = np.empty(0, np.float32)
        self._live = Lives()

    def table(self, name: str) -> PackedTable:
        """The part of the table ``name``, of a declared height, that lives here."""
        if name not in self.packed:
            raise BadMessage(f"this shard keeps no rows of {name!r}")
        return self.packed[name]

    def open_table(self, name: str) -> HashTable:
        """The part of the open table ``name`` that lives here."""
        if name not in self.open:
            raise BadMessage(f"this shard keeps no open table {name!r}")
        return self.open[name]

    def most(self, table: SparseTable) -> int:
        """How many rows of a table one message may name."""
        held = table.held
        return self.room.limit_bytes // (8 + 4 * held.width) if held.parameter.is_open else held.count

    def apply(
        self,
        gradients: Sequence[Gradient],
        *,
        samples: int,
        passes: int,
        step: int,
        rate: float | None = None,
    ) -> None:
        """Apply the sum (or mean) of ``gradients`` as update number ``step``, each step once, in order.

        ``samples``: processed so far, ``passes``: finished; the learning rate depends on them, unless
        ``rate`` was told.
        """
        if self._live.known:
            self._live.spoil()
        learning_rate = self._learning_rate(samples, passes, step - 1) if rate is None else rate
        scale = np.float32(1 / len(gradients)) if self._mean and len(gradients) > 1 else None
        if self.shown is not None:
            self.shown.begin(step)
        whole = gradients[0].whole if len(gradients) == 1 else None
        if whole is None:
            for blocks, total in zip(self._blocks, self._totals(gradients, scale), strict=True):
                blocks.apply(total, learning_rate, step)
        else:
            for stretch in self._stretches:
                stretch.apply(whole, learning_rate, step)
        if self.rows:
            for index, table in enumerate(self.rows.values()):
                table.apply([gradient.rows[index] for gradient in gradients], scale, learning_rate, step)

    def rate(self, *, samples: int, passes: int, step: int) -> float:
        """The learning rate of update number ``step``; see ``apply``."""
        return self._learning_rate(samples, passes, step - 1)

    def plain(self) -> dict[str, float]:
        """The dense parameters of which a step subtracts rate times gradient and no more, each with what the
        learning rate is multiplied by."""
        return {blocks.name: blocks.multiplier for blocks in self._blocks if blocks.is_plain}

    def _totals(self, gradients: Sequence[Gradient], scale: np.float32 | None) -> Iterable[np.ndarray]:
        """Per segment what is applied; good until the next one is asked for."""
        if len(gradients) == 1:
            return gradients[0].dense
        parts = zip(*[gradient.dense for gradient in gradients if gradient.dense], strict=True)
        return (self._sum(of_one, scale) for of_one in parts)

    @staticmethod
    def fold(gradients: Sequence[Gradient]) -> list[Gradient]:
        """The same sum with less memory: of the first gradients of a step, in the order in which they are
        added, one has what is dense of all then, and the others let go of theirs. A trainer's own memory is
        not written to: what is only there stays as it is."""
        there = [gradient for gradient in gradients if gradient.dense]
        into = next((gradient for gradient in there if gradient.is_ours), None)
        if into is None or len(there) < 2:
            return list(gradients)
        for target, *parts in zip(into.dense, *[gradient.dense for gradient in there], strict=True):
            _add_up(parts, target)
        return [each if each is into else each._replace(dense=()) for each in gradients]

    def _sum(self, gradients: Sequence[np.ndarray], scale: np.float32 | None) -> np.ndarray:
        """Their sum times ``scale``, in the first one's memory; in ours where that is a trainer's own, which
        may tell it again."""
        total = gradients[0] if gradients[0].flags.writeable else self._own(gradients[0].size)
        if len(gradients) > 1:  # else they were folded
            np.add(gradients[0], gradients[1], out=total)
        for other in gradients[2:]:
            np.add(total, other, out=total)
        return total if scale is None else np.multiply(total, scale, out=total)

    def _own(self, size: int) -> np.ndarray:
        if len(self._total) < size:
            self._total = np.empty(size, np.float32)
        return self._total[:size]

    def slot(self, parameter: str, name: str, *, current: bool = False) -> np.ndarray | None:
        """What lives here of what the rule remembers under a name: of a dense parameter or a table of a
        declared height; None where nothing does. It is live, but for a table's where all rows are to be
        ``current``."""
        if parameter in self.packed:
            table = self.packed[parameter]
            return table.current(name) if current else table.slot(name)
        blocks = (blocks for blocks in self._blocks if blocks.name == parameter)
        return next((each.state().get(f"slot {name}") for each in blocks), None)

    def begin_after(self, steps: int) -> None:
        """Go on as if so many steps had been taken; to be called before there was any."""
        if self.shown is not None:
            self.shown.begin(steps)
        for table in self.rows.values():
            table.begin_after(steps)

    def averages(self) -> np.ndarray:
        """What ``values`` would be if they were the averages of the last steps; a new array."""
        parts = [blocks.average() for blocks in self._blocks]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def state(self) -> dict[str, np.ndarray]:
        """Everything there is, by kind and parameter, as in ``values/w``; these arrays change with the
        next step, but for those of open tables."""
        parts: list[Blocks | SparseTable] = [*self._blocks, *self.rows.values()]
        return {f"{kind}/{part.name}": array for part in parts for kind, array in part.state().items()}

    def cut(self, worth_bytes: int = WORTH_BYTES, *, may_stand: bool = False) -> Cut:
        """The state now, which no step changes. Rows of tables of so many bytes are read later, in pieces
        (frozen.py): in the thread in which steps are applied, between two of them. Raises MemoryError and
        OSError where there is no memory for it, and nothing has changed then. Where steps ``may_stand`` until
        it was read there is one all the same, of which nothing was copied (live.py)."""
        room = CutRoom(lambda: self._cut_bytes(self.room.left_bytes))
        try:
            return Cut(self._cut(room, worth_bytes), room)
        except (OSError, MemoryError):
            if not may_stand:
                raise
        room = CutRoom(copies=False)
        cut = Cut(self._cut(room, worth_bytes), room)
        room.bound()
        return cut

    def _cut(self, room: CutRoom, worth_bytes: int) -> dict[str, Array]:
        state = {
            f"{kind}/{each.name}": array for each in self._blocks for kind, array in each.state().items()
        }
        if room.copies:
            room.take(self.dense_bytes)
            dense: dict[str, Array] = {name: array.copy() for name, array in state.items()}
        else:
            live = Live(room)
            self._live.add(live)
            dense = live.streamed(state)
        rows = {
            f"{kind}/{table.name}": array
            for table in self.rows.values()
            for kind, array in table.cut(room, worth_bytes).items()
        }
        return {**dense, **rows}

    @property
    def dense_bytes(self) -> int:
        """Bytes of the dense values and their state."""
        return sum(array.nbytes for blocks in self._blocks for array in blocks.state().values())

    def restore(self, state: Mapping[str, Array], step: int) -> None:
        """Become what gave ``state`` after update number ``step``. Raises ValueError where it does not
        fit."""
        for part in self._blocks:
            fill(part.state(), state, part.name)
        if self.shown is not None:
            self.shown.begin(step)
        for table in self.rows.values():
            table.restore(state, step)


def _add_up(parts: Sequence[np.ndarray], target: np.ndarray) -> None:
    """Their sum, in the order given, in ``target``, which is one of them."""
    for begin in range(0, target.size, _AT_ONCE):
        piece = slice(begin, begin + _AT_ONCE)
        total = np.add(parts[0][piece], parts[1][piece])
        for other in parts[2:]:
            np.add(total, other[piece], out=total)
        target[piece] = total


def _open(update: UpdateSpec, ranges: Sequence[RowRange], room: TableRoom) -> dict[str, HashTable]:
    held = [each for each in ranges if each.parameter.is_open]
    if not held:
        return {}
    from paddle._pserver.tables.hash_table import HashTable  # loads numba

    return {each.parameter.name: HashTable(each, update, room) for each in held}
