"""Tables without a declared height in training: a cluster of any size computes what one process computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from paddle._engine.entry import Entry
from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import AverageSpec, Exchange, ModeSpec, ParameterSpec, RowsSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    Declared,
    EndPass,
    Export,
    PullRows,
    Push,
    Seed,
    encode,
)
from paddle._pserver.protocol.portion import rows_at_once
from paddle._pserver.shard.declaration import SESSION_BYTES
from paddle._pserver.shard.inlet import Inlet
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.sparse_shard import SparseShard

from ..conftest import Start
from ..talk import Fails, Talk
from ..test_equality import RULE_SPECS, total, update

STEPS, PER_TRAINER = 6, 12
POOL = np.array([-(2**63), 2**63 - 1, -1, 0, *(1 << 40 << np.arange(6)), *range(7, 57)], np.int64)
WIDTHS = {"users": 5, "words": 3}
CHOOSY = {"always": Entry(), "count": Entry("count", 3), "probability": Entry("probability", 0.3)}

Result = dict[str, np.ndarray]


def model(entry: Entry = CHOOSY["always"], **rates: Any) -> tuple[ParameterSpec, ...]:
    """Two open tables, one of a declared height between them, and a dense parameter."""
    initial = RowInitial("truncated_normal", 0.0, 0.5)
    users = RowsSpec(initial=RowInitial("uniform", -1.0, 1.0), seed=3)
    words = RowsSpec(initial=initial, entry=entry, seed=3)
    return (
        ParameterSpec(name="users", shape=(OPEN, 5), sparse=True, rows=users),
        ParameterSpec(name="places", shape=(9, 2), sparse=True),
        ParameterSpec(name="w", shape=(3000,)),
        ParameterSpec(name="words", shape=(OPEN, 3), sparse=True, rows=words, **rates),
    )


def values_of(parameters: tuple[ParameterSpec, ...]) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {p.name: random.standard_normal(p.shape, np.float32) for p in parameters if not p.is_open}


class Batch:
    """What one trainer has in one step: ids, and a gradient that depends on the rows it is shown."""

    def __init__(self, step: int, trainer: int) -> None:
        self._random = np.random.default_rng(100 * step + trainer)
        self.ids = {name: self._random.choice(POOL, PER_TRAINER) for name in WIDTHS}
        self.places = self._random.integers(0, 9, PER_TRAINER)

    def gradients(self, exchange: Exchange) -> dict[str, np.ndarray | SparseRows]:
        unique = {name: np.unique(ids, return_inverse=True) for name, ids in self.ids.items()}
        rows = exchange.lookup({name: ids for name, (ids, _) in unique.items()}, training=True)
        exchange.prefetch({"places": self.places})
        found: dict[str, np.ndarray | SparseRows] = {"w": self._random.standard_normal(3000, np.float32)}
        noise = self._random.standard_normal((PER_TRAINER, 2), np.float32)
        found["places"] = SparseRows(self.places, noise, 9)
        for name, (_, places) in unique.items():
            noise = self._random.standard_normal((PER_TRAINER, WIDTHS[name]), np.float32)
            found[name] = SparseRows(self.ids[name], rows[name][places] + noise, OPEN)
        return found


def result(exchange: Exchange, arrays: Mapping[str, np.ndarray]) -> Result:
    exchange.fetch()
    exported = {name: exchange.export(name) for name in WIDTHS}
    ids = {f"ids of {name}": rows.ids for name, rows in exported.items()}
    tested = exchange.lookup({"words": POOL}, training=False)["words"]
    return {
        **{name: array.copy() for name, array in arrays.items()},
        **{name: rows.values for name, rows in exported.items()},
        **ids,
        "tested": tested,
    }


def locally(
    spec: UpdateSpec, parameters: tuple[ParameterSpec, ...], trainers: int = 2, shrinks: int = -1
) -> Result:
    exchange = LocalExchange()
    arrays = exchange.start(parameters, spec, values_of(parameters))
    exchange.begin_pass(0)
    for step in range(STEPS):
        parts = [Batch(step, trainer).gradients(exchange) for trainer in range(trainers)]
        exchange.step(total(parts, spec.reduce == "mean"), samples=8 * trainers)
        if step == shrinks:
            exchange.shrink(1)
    exchange.end_pass(0)
    return result(exchange, arrays)


def trainer(
    id: int,
    spec: UpdateSpec,
    parameters: tuple[ParameterSpec, ...],
    shrinks: int = -1,
    before_push: Callable[[int], None] = lambda step: None,
) -> Callable[[RemoteExchange], Result]:
    def run(exchange: RemoteExchange) -> Result:
        arrays = exchange.start(parameters, spec, values_of(parameters))
        exchange.begin_pass(0)
        for step in range(STEPS):
            gradients = Batch(step, id).gradients(exchange)
            before_push(step)
            exchange.step(gradients, samples=8)
            if step == shrinks and id == 0:
                exchange.shrink(1)
        exchange.end_pass(0)
        return result(exchange, arrays)

    return run


def assert_same(one: Result, other: Result) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("rule", sorted(RULE_SPECS))
def test_two_trainers_and_two_pservers_equal_one_process_for_every_rule(
    start_pservers: Start, rule: str
) -> None:
    spec, parameters = update(rule, reduce="mean", l2_rate=0.02), model(l1_rate=0.01)
    pservers = start_pservers(hosts=2, ports_num=1, ports_num_for_sparse=1, num_gradient_servers=2)
    first, second = pservers.train(*(trainer(id, spec, parameters) for id in range(2)))
    assert_same(first, second)
    assert_same(first, locally(spec, parameters))
    assert len(first["ids of users"]) > len(POOL) / 2
    assert pservers.statuses() == [0, 0, 0, 0]


@pytest.mark.parametrize("entry", CHOOSY)
@pytest.mark.parametrize("sparse_ports", [1, 3])
def test_entering_and_forgetting_do_not_depend_on_shards_nor_on_who_is_first(
    start_pservers: Start, entry: str, sparse_ports: int
) -> None:
    spec, parameters = update("adagrad"), model(CHOOSY[entry])
    pservers = start_pservers(2, 1, sparse_ports, num_gradient_servers=2)
    first, second = pservers.train(*(trainer(id, spec, parameters, shrinks=1) for id in range(2)))
    assert_same(first, second)
    assert_same(first, locally(spec, parameters, shrinks=1))
    assert 0 < len(first["ids of words"]) < len(POOL)


def test_a_step_alone_merges_ids_that_repeat_as_a_pserver_would(start_pservers: Start) -> None:
    spec, parameters = update("momentum", gradient_clipping_threshold=0.5), model()
    pservers = start_pservers(1, 2, 2)
    (only,) = pservers.train(trainer(0, spec, parameters))
    assert_same(only, locally(spec, parameters, trainers=1))


def test_a_test_makes_no_rows_and_counts_nothing() -> None:
    exchange = LocalExchange()
    exchange.start(model(CHOOSY["count"]), update("sgd"), values_of(model()))
    for _ in range(5):
        assert not exchange.lookup({"words": POOL, "users": POOL}, training=False)["words"].any()
    assert len(exchange.export("users").ids) == 0
    exchange.lookup({"words": POOL}, training=True)
    assert len(exchange.export("words").ids) == 0


def test_an_export_of_many_rows_comes_in_parts(start_pservers: Start, monkeypatch: Any) -> None:
    monkeypatch.setattr("paddle._pserver.trainer.sparse_shard.rows_at_once", lambda width: 7)
    ids = np.arange(1000) * 12345

    def run(exchange: RemoteExchange) -> Any:
        exchange.start(model(), update("sgd"), values_of(model()))
        rows = exchange.lookup({"users": ids}, training=True)["users"]
        return rows, exchange.export("users"), exchange.export("words")

    ((rows, users, words),) = start_pservers(1, 1, 3).train(run)
    assert np.array_equal(users.ids, ids) and np.array_equal(users.values, rows)
    assert len(words.ids) == 0


def test_an_export_of_few_rows_is_one_small_answer(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    whole = SparseShard._export

    def noted(shard: SparseShard, export: Export, *given: Any) -> Any:
        asked.append((export.table, export.most))
        return whole(shard, export, *given)

    monkeypatch.setattr(SparseShard, "_export", noted)

    def run(exchange: RemoteExchange) -> Any:
        exchange.start(model(), update("sgd"), values_of(model()))
        exchange.lookup({"users": POOL}, training=True)
        return exchange.export("users"), exchange.export("words")

    ((users, words),) = start_pservers(1, 1, 2).train(run)
    assert np.array_equal(users.ids, np.sort(POOL)) and len(words.ids) == 0
    assert [table for table, _ in asked] == ["users", "users", "words", "words"]
    assert max(most for _, most in asked) * 8 < 1 << 17


def test_what_is_no_open_table_is_named() -> None:
    exchange = LocalExchange()
    exchange.start(model(), update("sgd"), values_of(model()))
    with pytest.raises(ExchangeError, match="'places'"):
        exchange.lookup({"places": POOL}, training=True)
    with pytest.raises(ExchangeError, match="'places'"):
        exchange.export("places")
    with pytest.raises(ExchangeError, match="not after 0"):
        exchange.shrink(0)


# A shard, without bytes.

ROWS = SparseRows(np.array([5, -7], np.int64), np.ones((2, 3), np.float32), OPEN)


class Kept(Talk):
    """One open table of rows of 3, and nothing else."""

    def declare(self, trainer: int, **changes: Any) -> Any:
        parameters = (model(**changes)[3],)
        return self.ask(trainer, Declare(parameters, self.spec, 0, 1))

    def begun(self) -> Kept:
        for trainer, _ in enumerate(self._steps):
            self.hello(trainer)
            self.declare(trainer)
        self.ask(0, Seed("words"))
        assert self.shard.ready
        return self

    def pull(self, ids: np.ndarray) -> np.ndarray:
        assert self.ask(0, PullRows((len(ids),)), ids=(ids,))[0] == Answer(self.shard.clocks.version)
        return self.bodies[0][0]


def test_a_shard_of_open_tables_alone_waits_for_rows_that_trainer_0_may_have_and_no_values() -> None:
    waiting = Kept(2)
    for trainer in range(2):
        waiting.hello(trainer)
    assert waiting.declare(1) == []
    assert waiting.declare(0) == [Declared(seed=True)]
    talk = Kept().begun()
    assert any("0 sparse rows, and those to come of words" in note for note in talk.notes)
    assert talk.pull(np.array([1])).any()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (update("sgd", average=AverageSpec(window=0.5, min_window=1, max_window=9)), "ModelAverage"),
    ],
)
def test_what_cannot_be_done_with_an_open_table_is_refused_by_name(spec: UpdateSpec, said: str) -> None:
    talk = Kept(1, spec)
    talk.hello(0)
    (reply,) = talk.declare(0)
    assert reply == Fails("Refused", "open") and re.search(said, reply.text)


@pytest.mark.parametrize("shape", [(4, 3), (OPEN,), (OPEN, 3, 3), (OPEN, 0)])
def test_an_open_table_has_rows_of_some_width_and_no_height(shape: tuple[int, ...]) -> None:
    talk = Talk()
    talk.hello(0)
    wrong = ParameterSpec(name="words", shape=shape, sparse=True, rows=RowsSpec())
    assert talk.ask(0, Declare((wrong,), talk.spec, 0, 1)) == [Fails("Refused", "'words'")]


def test_a_table_that_is_full_breaks_the_job_for_all_and_is_named() -> None:
    talk = Kept(2, memory_limit_bytes=(1 << 20) + 2 * SESSION_BYTES).begun()
    ids = np.arange(100_000)
    assert Fails("TableFull", "table 'words' would need") in talk.ask(0, PullRows((len(ids),)), ids=(ids,))
    assert talk.told(1) == Fails("TrainerLost", "table 'words' would need")
    assert talk.shard.broken is not None


@pytest.mark.parametrize("name", ["geo", "average"])
def test_what_is_kept_to_tell_trainers_of_changes_is_within_the_room_of_the_rows(name: Any) -> None:
    spec = update("sgd", mode=ModeSpec(name=name, k_steps=1, is_async=True))
    talk = Kept(1, spec, memory_limit_bytes=(1 << 20) + SESSION_BYTES).begun()
    for step in range(1, 11):
        fresh = rows_of(range(2000 * step, 2000 * step + 2000))
        *_, reply = talk.ask(0, Push(step, 0, 1, counts=(2000,)), fresh)
        if not isinstance(reply, Answer):
            break
    assert reply == Fails("TableFull", "MiB on this shard to know which rows were changed")
    assert talk.shard.tables is not None
    assert talk.shard.tables.room.left_bytes > 0
    again = Kept(1, spec, memory_limit_bytes=(1 << 20) + SESSION_BYTES).begun()
    for step in range(1, 6):  # the same ones need no more
        assert again.ask(0, Push(step, 0, 1, counts=(9000,)), rows_of(range(9000))) == [Answer(step)]


def test_more_rows_than_could_ever_be_kept_are_not_received() -> None:
    talk = Kept(memory_limit_bytes=(1 << 20) + SESSION_BYTES).begun()
    inlet = Inlet(talk.shard, session=1)
    kind, meta = encode(PullRows((60_000,)))
    with pytest.raises(BadMessage, match="60000 rows for 'words', of which 52428 have room here"):
        inlet.place(kind, memoryview(meta), 8 * 60_000)
    kind, meta = encode(PullRows((50_000,)))
    inbound, (view,) = inlet.place(kind, memoryview(meta), 8 * 50_000)
    assert view.nbytes == 8 * len(inbound.ids[0])


def test_an_export_asks_for_no_more_than_an_answer_may_have() -> None:
    talk = Kept().begun()
    assert talk.ask(0, Export("words", rows_at_once(3) + 1)) == [Fails("BadMessage", "may be asked for")]
    talk = Kept().begun()
    assert talk.ask(0, Export("nobody", 1)) == [Fails("BadMessage", "no open table 'nobody'")]


def rows_of(ids: Sequence[int]) -> Gradient:
    return Gradient([], [Rows(np.array(ids, np.int64), np.ones((len(ids), 3), np.float32))])


def test_a_day_ends_with_the_step_that_it_was_told_with_and_once() -> None:
    talk = Kept(2).begun()
    assert talk.shard.tables is not None
    table = talk.shard.tables.open["words"]
    talk.pull(np.array([1]))
    ends = Push(1, 0, 1, (1,), shrink=1)
    assert talk.ask(0, ends, rows_of([2])) == []
    assert table.rows == 1  # the step waits for trainer 1
    talk.ask(1, Push(1, 0, 1, (1,), shrink=3), rows_of([3]))
    assert table.rows == 3  # the larger threshold counts
    talk.lose(0)
    talk.hello(0)
    talk.declare(0)
    talk.ask(0, ends, rows_of([2]))
    assert table.rows == 3 and table.state()["days"].tolist() == [1]


def test_a_day_ends_with_a_pass_once_all_have_ended_it() -> None:
    talk = Kept(2).begun()
    assert talk.shard.tables is not None
    table = talk.shard.tables.open["words"]
    talk.pull(np.array([1]))
    talk.ask(0, EndPass(0, 1, shrink=1))
    assert table.rows == 1
    talk.ask(1, EndPass(0, 1))
    assert table.rows == 1 and table.state()["days"].tolist() == [0]  # made after step 0
    for trainer in range(2):
        talk.ask(trainer, Push(1, 0, 1, (0,)), rows_of([]))
    talk.ask(0, EndPass(0, 2))
    talk.ask(1, EndPass(0, 2, shrink=1))
    assert table.rows == 0 and table.state()["days"].tolist() == [0, 1]


def test_status_tells_rows_and_candidates_and_copies_no_table() -> None:
    from paddle._pserver.service.status import status

    talk = Talk()
    talk.hello(0)
    talk.ask(0, Declare((model(CHOOSY["count"])[3],), talk.spec, 0, 1))
    talk.ask(0, Seed("words"))
    talk.ask(0, PullRows((2,)), ids=(np.array([1, 2]),))
    (table,) = status(talk.shard, 0.0).tables
    assert (table.name, table.rows, table.width, table.candidates) == ("words", 0, 3, 2)
    assert table.bytes > 0
