"""Rows that repeat are added up in memory that stays from step to step, to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.protocol.placement import RowRange, dense_layout
from paddle._pserver.tables import summed_rows
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.scratch import KEPT_BYTES, Scratch
from paddle._pserver.tables.summed_rows import summed
from paddle._pserver.tables.tables import Tables

HEIGHT, WIDTH = 50, 5
SHARES = [(60,), (7,), (30, 40), (1, 1, 90), (50, 0, 2)]


def parts_of(seed: int, sizes: tuple[int, ...]) -> list[Rows]:
    generator = np.random.default_rng(seed)
    return [
        Rows(generator.integers(0, HEIGHT, size), generator.standard_normal((size, WIDTH), np.float32))
        for size in sizes
    ]


@pytest.mark.parametrize("sizes", SHARES)
def test_each_id_is_there_once_with_its_sum_whatever_was_added_up_there_before(sizes: tuple[int, ...]):
    scratch = Scratch()
    summed(parts_of(0, (80, 30)), scratch)
    parts = parts_of(1, sizes)
    given = [(part.ids.copy(), part.values.copy()) for part in parts]
    ids, values = summed(parts, scratch)
    alone = summed(parts)
    assert (ids.tobytes(), values.tobytes()) == (alone[0].tobytes(), alone[1].tobytes())
    total = np.zeros((HEIGHT, WIDTH), np.float32)
    for part in parts:
        np.add.at(total, part.ids, part.values)
    assert len(set(ids.tolist())) == len(ids)
    np.testing.assert_array_equal(total[ids], values)
    assert not np.delete(total, ids, axis=0).any()
    for part, (own_ids, own_values) in zip(parts, given, strict=True):
        assert (part.ids == own_ids).all() and (part.values == own_values).all()


def test_what_is_added_up_lies_where_that_of_the_step_before_lay():
    scratch = Scratch()
    before = [array.ctypes.data for array in summed(parts_of(0, (60, 60)), scratch)]
    assert [array.ctypes.data for array in summed(parts_of(1, (60, 60)), scratch)] == before
    assert all(a.ctypes.data % a.itemsize == 0 for a in summed(parts_of(2, (33,)), scratch))


def test_all_tables_of_a_shard_add_up_each_step_in_the_same_memory(monkeypatch):
    update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.5))
    specs = [ParameterSpec(name=name, shape=(HEIGHT, WIDTH), sparse=True) for name in ("t", "u")]
    ranges, places = [RowRange(spec, 0, 1, HEIGHT) for spec in specs], set()
    tables = Tables(update, dense_layout([], 0, 1), ranges)

    def told(*given: object) -> tuple[np.ndarray, np.ndarray]:
        ids, values = summed(*given)
        places.add((ids.ctypes.data, values.ctypes.data))
        kept.append(values)  # so that the memory of one that is made anew is not given out again
        return ids, values

    kept: list[np.ndarray] = []
    monkeypatch.setattr(summed_rows, "summed", told)
    for step in (1, 2, 3):
        for table in tables.packed.values():
            table.apply(parts_of(step, (60,)), None, 0.5, step)
    assert len(places) == 1


def test_memory_of_an_unusual_batch_is_not_kept():
    scratch = Scratch()
    (usual,) = scratch.cut((np.float32, (100,)))
    (large,) = scratch.cut((np.float32, (KEPT_BYTES // 4 + 1,)))
    (again,) = scratch.cut((np.float32, (100,)))
    assert np.shares_memory(usual, again)
    assert not np.shares_memory(large, again)


def test_arrays_that_are_cut_from_one_memory_do_not_meet():
    forms = ((np.int64, (3,)), (np.float32, (5, 7)), (np.int32, (2,)), (np.uint8, (1,)))
    arrays = Scratch().cut(*forms)
    assert [(each.dtype.type, each.shape) for each in arrays] == list(forms)
    for number, array in enumerate(arrays):
        array[...] = number
    assert [set(each.reshape(-1).tolist()) for each in arrays] == [{0}, {1}, {2}, {3}]
