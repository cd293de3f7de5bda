"""Any rule in any mode: however many shards there are, trainers see the same bits at every step.

Trainers are driven one call at a time, so that the order of events is the one that was drawn. Where gradients
are applied alone, or merged by their trainer, these bits are those of one process that is given what counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RowsSpec, ScheduleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.examples import one_fixture_for_all

from ..conftest import Start, values_of
from ..test_equality import MODEL, RULE_SPECS, assert_same, gradients_of, total, update

TRAINERS, RATIO = 2, 1.5
SHAPES = [(1, 1), (3, 2)]
SAMPLES = 4

ONE_BY_ONE = [ModeSpec(name="async", discard_ratio=RATIO), ModeSpec(name="ssp", staleness=50)]
MERGED = [
    ModeSpec(name="half_async", max_merge_var_num=2),
    ModeSpec(name="half_async", max_merge_var_num=3, merge="mean"),
]
MODES = [
    *ONE_BY_ONE,
    *MERGED,
    ModeSpec(name="geo", k_steps=2),
    ModeSpec(name="average", k_steps=2, is_async=True),
    ModeSpec(name="elastic_average", k_steps=2, is_async=True, delta_add_rate=0.5),
]
SCHEDULES = [
    ScheduleSpec(learning_rate=0.1),
    ScheduleSpec(name="noam_decay", learning_rate=0.5, options={"d_model": 8, "warmup_steps": 4}),
    ScheduleSpec(name="manual", learning_rate=0.1, args="12:1.0,24:0.5,100:0.1"),
]
SPECS = st.builds(
    lambda rule, schedule: replace(update(rule, l1_rate=0.003), schedule=schedule),
    st.sampled_from(sorted(RULE_SPECS)),
    st.sampled_from(SCHEDULES),
)
EVENTS = st.lists(st.integers(0, TRAINERS - 1), min_size=1, max_size=10)
"""Which trainer does its next step."""


class Seen(NamedTuple):
    """All that trainers saw, in order; which steps were discarded; their parameters at the end."""

    values: list[bytes]
    dropped: list[bool]
    final: list[dict[str, np.ndarray]]


def look(exchange: Exchange, seed: int) -> dict[str, Any]:
    """The gradients of a batch, whose rows are there then."""
    gradients = gradients_of(MODEL, seed)
    exchange.prefetch({name: g.ids for name, g in gradients.items() if isinstance(g, SparseRows)})
    return gradients


def driven(pservers: Any, spec: UpdateSpec, events: Sequence[int]) -> Seen:
    exchanges = [in_mode(pservers.exchange(id), spec.mode, TRAINERS) for id in range(TRAINERS)]
    arrays = [each.start(MODEL, spec, values_of(MODEL, 0)) for each in exchanges]
    seen = Seen([], [], [])
    for seed, id in enumerate(events):
        gradients = look(exchanges[id], seed)
        used = {n: np.unique(g.ids) for n, g in gradients.items() if isinstance(g, SparseRows)}
        seen.values.extend(arrays[id][name][ids].tobytes() for name, ids in used.items())
        seen.dropped.append(exchanges[id].step(gradients, SAMPLES).dropped > 0)
        seen.values.extend(arrays[id][p.name].tobytes() for p in MODEL if not p.sparse)
    for each in exchanges:
        each.fetch()
    seen.final.extend({name: array.copy() for name, array in mine.items()} for mine in arrays)
    for each in exchanges:
        each.close()
    return seen


def too_old(events: Sequence[int]) -> Iterator[bool]:
    """Whether each gradient is: since its trainer had an answer came enough others, itself among them."""
    others = [0] * TRAINERS
    for id in events:
        yield others[id] > 0 and others[id] + 1 >= int(TRAINERS * RATIO)
        others = [0 if each == id else count + 1 for each, count in enumerate(others)]


@given(spec=SPECS, mode=st.sampled_from(MODES), events=EVENTS)
@settings(one_fixture_for_all, max_examples=40)
def test_the_number_of_shards_changes_nothing_that_a_trainer_sees(
    start_pservers: Start, spec: UpdateSpec, mode: ModeSpec, events: list[int]
) -> None:
    spec = replace(spec, mode=mode)
    one, many = (driven(start_pservers(1, *shape, TRAINERS), spec, events) for shape in SHAPES)
    assert one.values == many.values and one.dropped == many.dropped
    for mine, theirs in zip(one.final, many.final, strict=True):
        assert {n: a.tobytes() for n, a in mine.items()} == {n: a.tobytes() for n, a in theirs.items()}


@given(spec=SPECS, mode=st.sampled_from(ONE_BY_ONE), events=EVENTS)
@settings(one_fixture_for_all, max_examples=20)
def test_gradients_that_are_applied_alone_do_what_they_do_in_one_process(
    start_pservers: Start, spec: UpdateSpec, mode: ModeSpec, events: list[int]
) -> None:
    seen = driven(start_pservers(1, *SHAPES[1], TRAINERS), replace(spec, mode=mode), events)
    dropped = list(too_old(events)) if mode.name == "async" else [False] * len(events)
    alone = LocalExchange()
    arrays = alone.start(MODEL, spec, values_of(MODEL, 0))
    for seed, is_too_old in enumerate(dropped):
        gradients = look(alone, seed)
        if not is_too_old:
            alone.step(gradients, SAMPLES)
    alone.fetch()
    assert seen.dropped == dropped
    assert_same(seen.final[0], arrays)


@given(spec=SPECS, mode=st.sampled_from(MERGED), events=EVENTS)
@settings(one_fixture_for_all, max_examples=20)
def test_gradients_that_trainers_merge_do_what_their_sum_or_mean_does_in_one_process(
    start_pservers: Start, spec: UpdateSpec, mode: ModeSpec, events: list[int]
) -> None:
    seen = driven(start_pservers(1, *SHAPES[1], TRAINERS), replace(spec, mode=mode), events)
    alone, pending = LocalExchange(), [list[Any]() for _ in range(TRAINERS)]
    arrays = alone.start(MODEL, spec, values_of(MODEL, 0))

    def push(id: int) -> None:
        alone.step(total(pending[id], mode.merge == "mean"), SAMPLES * len(pending[id]))
        pending[id].clear()

    for seed, id in enumerate(events):
        pending[id].append(look(alone, seed))
        if len(pending[id]) == mode.max_merge_var_num:
            push(id)
    for id in range(TRAINERS):  # in the end all fetch, in this order
        if pending[id]:
            push(id)
        alone.fetch()
    assert not any(seen.dropped)
    assert_same(seen.final[-1], arrays)


ENTRIES = [Entry(), Entry("count", 2), Entry("probability", 0.4)]
BATCHES = st.lists(st.lists(st.integers(-6, 5), min_size=1, max_size=5, unique=True), min_size=1, max_size=10)


def of_open_tables(entry: Entry) -> tuple[ParameterSpec, ...]:
    rows = RowsSpec(initial=RowInitial("normal", 0.0, 1.0), seed=3, entry=entry)
    own: dict[str, Any] = {"l2_rate": 0.05, "gradient_clipping_threshold": 0.4, "learning_rate": 2.0}
    return (
        ParameterSpec(name="w", shape=(40, 30)),
        ParameterSpec(name="t", shape=(OPEN, 3), sparse=True, rows=rows, **own),
    )


def course(exchange: Exchange, spec: UpdateSpec, entry: Entry, batches: list[list[int]]) -> list[bytes]:
    """All that a trainer alone sees of batches that name these rows, some far apart, and days that end."""
    model = of_open_tables(entry)
    arrays, seen = exchange.start(model, spec, {"w": np.ones((40, 30), np.float32)}), []
    for step, named in enumerate(batches):
        ids = np.sort(np.array(named, np.int64) * (1 << 60 if step % 3 == 0 else 1))
        rows = exchange.lookup({"t": ids}, training=True)["t"]
        if step % 4 == 3:
            exchange.shrink(2)
        gradient = SparseRows(ids, np.sin(rows + np.float32(1)), OPEN)
        exchange.step({"w": arrays["w"] * np.float32(0.1), "t": gradient}, SAMPLES)
        seen += [rows.tobytes(), arrays["w"].tobytes()]
    exchange.end_pass(0)
    kept = exchange.export("t")
    exchange.close()
    return [*seen, kept.ids.tobytes(), kept.values.tobytes()]


@given(
    spec=SPECS,
    mode=st.sampled_from([ModeSpec(), *ONE_BY_ONE, ModeSpec(name="half_async")]),
    entry=st.sampled_from(ENTRIES),
    batches=BATCHES,
)
@settings(one_fixture_for_all, max_examples=30)
def test_one_process_one_shard_and_many_have_the_same_open_table(
    start_pservers: Start, spec: UpdateSpec, mode: ModeSpec, entry: Entry, batches: list[list[int]]
) -> None:
    spec = replace(spec, mode=mode)
    shards = [in_mode(start_pservers(1, *shape).exchange(0), mode, 1) for shape in SHAPES]
    here, *there = (course(each, spec, entry, batches) for each in (LocalExchange(), *shards))
    assert there == [here, here]
