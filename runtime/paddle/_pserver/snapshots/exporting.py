"""Exporting: a job's parameters as values of a model, from its shards' state.

Rows are brought up to date as they are for a trainer that reads them; where parameters are averaged, the
averages can be had in their place. It must never know a file.

Guarantee: what a trainer would have got by fetching at the version that was gathered; nothing lies in memory
but the piece that is being written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paddle._engine.averages import Average
from paddle._engine.checkpoint import counted_text, sparse_text
from paddle._engine.checkpoint.parameter_config import ParameterConfig
from paddle._engine.exchange import ParameterSpec
from paddle._engine.rules import Counted, rule_of
from paddle._pserver.errors import CannotExport
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.snapshots.gathering import Gathered
from paddle._pserver.snapshots.resharding import Resharding, rows_in_a_piece
from paddle._pserver.tables.hash_table import HashTable
from paddle._pserver.tables.packed_table import PackedTable
from paddle._pserver.tables.streamed import Array, pieces, whole
from paddle._pserver.tables.table_room import TableRoom


@dataclass(frozen=True, slots=True)
class Exporting:
    """See the module's text. Raises CannotExport for what has no values."""

    gathered: Gathered
    is_averaged: bool = False

    def __post_init__(self) -> None:
        declared = self.gathered.declaration
        if self.is_averaged and declared.update.average is None:
            raise CannotExport("this job keeps no averages of its parameters: leave --average out")

    @property
    def open_tables(self) -> list[ParameterSpec]:
        """Those without a height, whose rows are no array."""
        return [parameter for parameter in self.gathered.declaration.parameters if parameter.is_open]

    def parameters(self) -> Iterator[tuple[ParameterSpec, Iterator[np.ndarray]]]:
        """Each parameter but open tables, as declared, and its values piece by piece, in order."""
        one = Resharding(self.gathered)
        dense = one.arrays("dense", 0, 1)
        for parameter in self.gathered.declaration.parameters:
            if parameter.is_open:
                continue
            if parameter.sparse:
                yield parameter, self._rows(one, parameter)
            elif self.is_averaged:
                yield parameter, iter([self._mean(dense, parameter.name)])
            else:
                yield parameter, pieces(dense[f"values/{parameter.name}"])

    def _rows(self, one: Resharding, table: ParameterSpec) -> Iterator[np.ndarray]:
        declared, height = self.gathered.declaration, table.shape[0]
        portion = rows_in_a_piece(table.shape[1])
        for begin in range(0, height, portion):
            end = min(begin + portion, height)
            some = PackedTable(RowRange(table, 0, 1, end - begin), declared.update)
            some.restore(one.rows_of(table, begin, end), self.gathered.version)
            yield some.average() if self.is_averaged else some.refresh()

    def columns_of(self, table: ParameterSpec) -> dict[str, int]:
        """The columns of an open table's rows, by their widths."""
        rule, width = rule_of(table, self.gathered.declaration.update), table.shape[1]
        if isinstance(rule, Counted):
            return counted_text.widths(width - rule.counts, rule.counts, rule.slots)
        return {sparse_text.ROW: width}

    def rows_of(self, table: ParameterSpec) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rows of an open table piece by piece: ids int64 (k,), and float32 (k, all columns)."""
        one, update = Resharding(self.gathered), self.gathered.declaration.update
        portion, rule = rows_in_a_piece(table.shape[1]), rule_of(table, update)
        for shard in range(len(self.gathered.sparse)):
            for begin in range(0, one.rows_on(table, shard), portion):
                some = HashTable(RowRange(table, 0, 1, 0), update, TableRoom(sys.maxsize))
                some.restore(one.rows_from(table, shard, begin, begin + portion), self.gathered.version)
                found = some.listed(None, portion)
                if isinstance(rule, Counted):
                    yield found.ids, counted_text.joined(found.values, found.slots, rule.counts, rule.slots)
                else:
                    yield found.ids, found.values

    def _mean(self, dense: dict[str, Array], name: str) -> np.ndarray:
        values = whole(dense[f"values/{name}"])
        spec = self.gathered.declaration.update.average
        assert spec is not None
        average = Average(values, spec)
        for kind, array in average.state().items():
            array[...] = whole(dense[f"{kind}/{name}"])
        return average.mean(values)


def config_of(parameter: ParameterSpec) -> ParameterConfig:
    """What a v2 model says of a parameter, as far as pservers know it; how it began only trainers know."""
    config = ParameterConfig(
        name=parameter.name, size=parameter.size, learning_rate=parameter.learning_rate, dims=parameter.shape
    )
    numbers = {
        "momentum": parameter.momentum,
        "decay_rate": parameter.l2_rate,
        "decay_rate_l1": parameter.l1_rate,
        "gradient_clipping_threshold": parameter.gradient_clipping_threshold,
    }
    for field, value in numbers.items():
        if value is not None:
            setattr(config, field, value)
    if parameter.sparse:
        config.sparse_remote_update = config.sparse_update = True
    return config
