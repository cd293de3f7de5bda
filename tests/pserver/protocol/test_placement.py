"""Placement: every value on exactly one shard, by a rule that never changes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.placement import block_size, dense_layout, row_ranges, stable_hash

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
SHARDS = st.integers(1, 7)


@st.composite
def models(draw: st.DrawFn, sparse: bool) -> list[ParameterSpec]:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    if sparse:
        shapes = st.tuples(st.integers(1, 40), st.integers(1, 5))
    else:
        shapes = st.tuples(st.integers(1, 200), st.integers(1, 120))
    return [ParameterSpec(name=name, shape=draw(shapes), sparse=sparse) for name in names]


@given(models(sparse=False), SHARDS)
def test_every_dense_value_is_on_exactly_one_shard(model: list[ParameterSpec], shards: int) -> None:
    seen = {parameter.name: np.zeros(parameter.size, int) for parameter in model}
    for shard in range(shards):
        for part in dense_layout(model, shard, shards).slices:
            seen[part.name][part.start : part.stop] += 1
    assert all((count == 1).all() for count in seen.values())


@given(models(sparse=False), SHARDS)
def test_slices_and_segments_describe_the_same_flat_array(model: list[ParameterSpec], shards: int) -> None:
    for shard in range(shards):
        layout = dense_layout(model, shard, shards)
        by_slices = [part.name for part in layout.slices for _ in range(part.start, part.stop)]
        by_segments = [segment.parameter.name for segment in layout.segments for _ in range(segment.size)]
        assert by_slices == by_segments
        assert len(by_slices) == layout.size
        ends = [segment.offset + segment.size for segment in layout.segments]
        assert [segment.offset for segment in layout.segments] == [0, *ends][: len(ends)]


@given(models(sparse=False))
def test_one_shard_keeps_every_parameter_as_one_slice(model: list[ParameterSpec]) -> None:
    slices = dense_layout(model, 0, 1).slices
    assert [(s.name, s.start, s.stop) for s in slices] == [(p.name, 0, p.size) for p in model]


@given(models(sparse=True), SHARDS)
def test_every_row_is_on_exactly_one_shard_at_one_position(model: list[ParameterSpec], shards: int) -> None:
    for index, parameter in enumerate(model):
        ids = np.arange(parameter.shape[0])
        owners = np.zeros(len(ids), int)
        for shard in range(shards):
            held = row_ranges(model, shard, shards)[index]
            mine = ids[held.pick(ids)]
            owners[mine] += 1
            assert (mine == ids[held.rows]).all()
            assert (held.local(mine) == np.arange(held.count)).all()
        assert (owners == 1).all()


def test_dense_blocks_follow_the_documented_formula() -> None:
    assert block_size(values=10, shards=4) == 1024
    assert block_size(values=1 << 18, shards=1) == 4096  # 19 bits
    parameter = ParameterSpec(name="w", shape=(5000,))
    for shard in range(3):
        for part in dense_layout([parameter], shard, 3).slices:
            assert part.start % 1024 == 0
            assert (part.start // 1024 + stable_hash("w")) % 3 == shard


def test_a_row_follows_the_documented_formula() -> None:
    table = ParameterSpec(name="emb", shape=(10, 2), sparse=True)
    for shard in range(3):
        (held,) = row_ranges([table], shard, 3)
        assert all((row + stable_hash("emb")) % 3 == shard for row in range(10)[held.rows])


def test_the_hash_is_the_same_on_every_machine() -> None:
    assert stable_hash("___fc_layer_0__.w0") == 8537273428142102723
