"""Tables without a height, in programs: alone, and kept by servers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

import paddle
from paddle._engine.exchange import ModeSpec
from paddle._engine.row_initial import RowInitial, row_key
from paddle._program.carrier import Carrier, Cluster
from paddle._program.running.open_table import table_of
from paddle.distributed import CountFilterEntry, ProbabilityEntry
from paddle.distributed.entry_attr import EntryAttr
from paddle.fluid import contrib, layers, optimizer, unique_name
from paddle.fluid.executor import Executor, Scope
from paddle.fluid.framework import Program, program_guard
from paddle.fluid.initializer import Constant, NumpyArrayInitializer, Uniform
from paddle.fluid.param_attr import ParamAttr
from paddle.fluid.regularizer import L2Decay
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

HEIGHT, WIDTH, SEED = 1_000_000_000, 4, 3
IDS = [5, -7, 1 << 62, -(1 << 62), 11, 12, 2_000_000_000, 0]
TABLE = ParamAttr(name="emb", initializer=Uniform(-0.5, 0.5))
Made = tuple[Program, Program, Any]


def network(made: Callable[[], Any], entry: Any = None, table: ParamAttr = TABLE, **told: Any) -> Made:
    main, startup = Program(), Program()
    startup.random_seed = SEED
    with unique_name.guard(), program_guard(main, startup):
        ids, label = layers.data("ids", [1], dtype="int64"), layers.data("label", [1])
        rows = contrib.layers.sparse_embedding(ids, [HEIGHT, WIDTH], entry=entry, param_attr=table, **told)
        loss = layers.mean(layers.square_error_cost(layers.fc(rows, 1, param_attr="w"), label))
        made().minimize(loss)
    return main, startup, loss


def test_a_distributed_table_of_one_row_is_one_of_pslibs_and_has_no_height() -> None:
    """Whose programs give no height, for servers hash ids."""
    made = []
    for written in (
        lambda ids: contrib.layers.sparse_embedding(ids, [1, WIDTH], param_attr=TABLE),
        lambda ids: layers.embedding(ids, [1, WIDTH], True, True, param_attr=TABLE),
    ):
        main, startup = Program(), Program()
        startup.random_seed = SEED
        with unique_name.guard(), program_guard(main, startup):
            ids, label = layers.data("ids", [1], dtype="int64"), layers.data("label", [1])
            loss = layers.mean(layers.square_error_cost(layers.fc(written(ids), 1, param_attr="w"), label))
            optimizer.SGD(0.1).minimize(loss)
        made.append(train((main, startup, loss), batches(0, 1)))
    assert made[0] == made[1] and set(made[1][1]) <= set(IDS)


def batches(id: int, trainers: int, steps: int = 6) -> list[dict[str, np.ndarray]]:
    random, share = np.random.default_rng(1), 8 // trainers
    chosen = [random.choice(IDS, (8, 1))[id * share : (id + 1) * share] for _ in range(steps)]
    return [{"ids": ids, "label": (ids % 5).astype(np.float32) / 5} for ids in chosen]


def train(made: Made, own: list[dict[str, np.ndarray]]) -> tuple[list[float], dict[int, list[float]]]:
    """Losses, and the rows that there are in the end."""
    main, startup, loss = made
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    losses = [executor.run(main, feed=each, fetch_list=[loss], scope=scope)[0].item() for each in own]
    table = table_of(scope, "emb")
    assert table is not None
    found = table.rows()
    executor.close()
    return losses, dict(zip(found.ids.tolist(), found.values.tolist(), strict=True))


def job(endpoints: Endpoints, made: Callable[[], Made], mode: ModeSpec | None = None) -> list[Any]:
    """What each trainer has of training its part."""
    results: list[Future[Any]] = [Future() for _ in range(endpoints.trainers)]
    programs = [made() for _ in results]
    for id, (program, _, _) in enumerate(programs):
        told = {"trainers": endpoints.trainers, "trainer_id": id, "mode": mode or ModeSpec()}
        program._carrier = Carrier(Cluster(endpoints=tuple(endpoints.names), **told))

    def run(id: int) -> None:
        try:
            results[id].set_result(train(programs[id], batches(id, endpoints.trainers)))
        except BaseException as error:
            results[id].set_exception(error)

    for id, _ in enumerate(results):
        threading.Thread(target=run, args=(id,), daemon=True).start()
    return [result.result(TIMEOUT_S) for result in results]


@pytest.mark.parametrize(
    ("made", "servers", "trainers"),
    [
        (lambda: optimizer.SGD(0.1), 2, 2),
        (lambda: optimizer.Adam(0.05), 1, 1),
        (lambda: optimizer.Adam(0.05), 2, 2),
        (lambda: optimizer.Adam(0.05, lazy_mode=True), 2, 1),
    ],
)
def test_any_id_has_a_row_and_servers_train_as_one_process_does(
    made: Callable[[], Any], servers: int, trainers: int
) -> None:
    losses, rows = train(network(made), batches(0, 1))
    assert set(rows) == {int(id) for batch in batches(0, 1) for id in batch["ids"][:, 0]}
    endpoints = Endpoints(servers, trainers)
    found = job(endpoints, lambda: network(made))
    np.testing.assert_allclose(np.mean([each for each, _ in found], axis=0), losses, rtol=1e-5)
    for _, theirs in found:
        assert set(theirs) == set(rows)
        for id, row in rows.items():
            np.testing.assert_allclose(theirs[id], row, rtol=1e-5, atol=1e-6)
    assert all(endpoints.outcomes())


@pytest.mark.parametrize("mode", [ModeSpec(name="async"), ModeSpec(name="geo", k_steps=2)])
def test_out_of_step_a_trainer_alone_learns_what_one_process_learns(mode: ModeSpec) -> None:
    losses, rows = train(network(lambda: optimizer.SGD(0.1)), batches(0, 1))
    endpoints = Endpoints(2)
    ((theirs, kept),) = job(endpoints, lambda: network(lambda: optimizer.SGD(0.1)), mode)
    np.testing.assert_allclose(theirs, losses, rtol=1e-5)
    np.testing.assert_allclose(
        [kept[id] for id in sorted(rows)], [rows[id] for id in sorted(rows)], rtol=1e-5
    )
    assert all(endpoints.outcomes())


def test_a_row_begins_as_the_tables_initializer_says_by_the_seed_and_its_id() -> None:
    _, rows = train(network(lambda: optimizer.SGD(0.0)), batches(0, 1))
    expected = np.empty((len(rows), WIDTH), np.float32)
    RowInitial("uniform", -0.5, 0.5).fill(row_key(SEED, "emb"), np.array(sorted(rows)), expected)
    np.testing.assert_array_equal([rows[id] for id in sorted(rows)], expected)
    constant = ParamAttr(name="emb", initializer=Constant(0.25))
    _, rows = train(network(lambda: optimizer.SGD(0.0), table=constant), batches(0, 1))
    assert {tuple(row) for row in rows.values()} == {(0.25,) * WIDTH}
    with pytest.raises(ValueError, match="rows of 'emb' are made when they are asked for"):
        array = NumpyArrayInitializer(np.zeros((3, WIDTH), np.float32))
        with program_guard(Program(), Program()):
            ids = layers.data("ids", [1], dtype="int64")
            contrib.layers.sparse_embedding(
                ids, [3, WIDTH], param_attr=ParamAttr(name="emb", initializer=array)
            )


def test_a_test_makes_no_row_and_reads_zeros_where_there_is_none() -> None:
    main, startup, _ = network(lambda: optimizer.SGD(0.1))
    test = main.clone(for_test=True)
    name = next(op for op in test.global_block().ops if op.type == "lookup_table").output("Out")[0]
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    feed = {"ids": np.array([[5], [77]]), "label": np.zeros((2, 1), np.float32)}
    assert not executor.run(test, feed=feed, fetch_list=[name], scope=scope)[0].any()
    executor.run(main, feed={key: value[:1] for key, value in feed.items()}, scope=scope)
    seen, unseen = executor.run(test, feed=feed, fetch_list=[name], scope=scope)[0]
    assert seen.any() and not unseen.any()
    table = table_of(scope, "emb")
    assert table is not None and table.rows().ids.tolist() == [5]


def test_what_entries_have_in_common_is_no_entry() -> None:
    with pytest.raises(NotImplementedError, match="EntryAttr is the base class"):
        EntryAttr()._to_attr()


@pytest.mark.parametrize(("entry", "sightings"), [(CountFilterEntry(3), 3), (ProbabilityEntry(0.5), 3)])
@pytest.mark.parametrize("servers", [0, 2])
def test_an_id_has_no_row_until_it_enters(entry: Any, sightings: int, servers: int) -> None:
    made = network(lambda: optimizer.SGD(0.1), entry=entry)
    endpoints = Endpoints(servers or 1)
    if servers:
        made[0]._carrier = Carrier(Cluster(endpoints=tuple(endpoints.names)))
    main, startup, loss = made
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    ids = np.arange(40)[:, None]
    feed, found = {"ids": ids, "label": np.ones((40, 1), np.float32)}, []
    for _ in range(sightings):
        executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
        table = table_of(scope, "emb")
        assert table is not None
        found.append(len(table.rows().ids))
    executor.close()
    if isinstance(entry, CountFilterEntry):
        assert found == [0, 0, 40]
    else:
        assert 0 < found[0] < found[1] < found[2] < 40
    if servers:
        assert all(endpoints.outcomes())


def test_entries_that_differ_and_such_as_are_none_are_refused() -> None:
    with program_guard(Program(), Program()), unique_name.guard():
        ids = layers.data("ids", [1], dtype="int64")
        with pytest.raises(ValueError, match="CountFilterEntry"):
            contrib.layers.sparse_embedding(ids, [3, 2], entry=3)
        with pytest.raises(TypeError, match="dtype of sparse_embedding is 'float32' or 'float64'"):
            contrib.layers.sparse_embedding(ids, [3, 2], dtype="int64")
        table: dict[str, Any] = {"size": [3, 2], "param_attr": ParamAttr(name="t")}
        contrib.layers.sparse_embedding(ids, entry=CountFilterEntry(1), **table)
        with pytest.raises(ValueError, match="a table has one"):
            contrib.layers.sparse_embedding(ids, entry=CountFilterEntry(2), **table)


def test_rows_that_a_program_sets_are_rows_of_the_table() -> None:
    main, startup, loss = network(lambda: optimizer.SGD(0.1))
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    given = np.arange(8, dtype=np.float32).reshape(2, WIDTH)
    held = scope.find_var("emb")
    assert held is not None
    held.get_tensor().set(given, None)
    feed = {"ids": np.array([[1], [9]]), "label": np.zeros((2, 1), np.float32)}
    test = main.clone(for_test=True)
    name = next(op for op in test.global_block().ops if op.type == "lookup_table").output("Out")[0]
    np.testing.assert_array_equal(
        executor.run(test, feed=feed, fetch_list=[name], scope=scope)[0][0], given[1]
    )
    executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
    held.get_tensor().set(given * 2, None)
    np.testing.assert_array_equal(
        executor.run(test, feed=feed, fetch_list=[name], scope=scope)[0][0], given[1] * 2
    )


def test_the_later_generation_writes_the_same_table() -> None:
    paddle.enable_static()
    try:
        with program_guard(Program(), Program()), unique_name.guard():
            ids = layers.data("ids", [1], dtype="int64")
            paddle.static.nn.sparse_embedding(ids, [3, 2], entry=CountFilterEntry(5))
            (op,) = paddle.static.default_main_program().global_block().ops
    finally:
        paddle.disable_static()
    assert (op.attr("entry"), op.attr("remote_prefetch"), op.attr("is_distributed")) == (
        "count_filter_entry:5",
        True,
        True,
    )


@pytest.mark.parametrize("mode", [None, ModeSpec(), ModeSpec(name="geo", k_steps=2)])
def test_a_decay_of_a_table_is_none_as_the_warning_says(mode: ModeSpec | None) -> None:
    decayed = ParamAttr(name="emb", initializer=Uniform(-0.5, 0.5), regularizer=L2Decay(0.5))
    with pytest.warns(UserWarning, match="table 'emb' has no height, so it has no decay"):
        made = network(lambda: optimizer.SGD(0.1), table=decayed)
    endpoints = Endpoints(1)
    ((losses, rows),) = job(endpoints, lambda: made, mode) if mode else [train(made, batches(0, 1))]
    expected, _ = train(network(lambda: optimizer.SGD(0.1)), batches(0, 1))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert rows and (mode is None or all(endpoints.outcomes()))
