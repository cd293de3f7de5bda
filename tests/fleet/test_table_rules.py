"""Tables of fleet with a rule of their own, on two servers, against those of the original
(counted_twins.py)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._fleet.errors import BadStrategy, MistypedConfig
from paddle._fleet.fleet import Fleet
from paddle._fleet.strategy import DistributedStrategy
from paddle._program.errors import BadArgument
from paddle._program.files import counted_columns
from paddle._program.running.open_table import table_of
from paddle.fluid import contrib, layers, optimizer
from tests.counted_twins import Accessor
from tests.fleet.test_tables import job

WIDTH, SAMPLES, STEPS = 4, 6, 5
BEFORE = "table_parameters.emb.accessor."
CONFIGS = {
    "table_parameters.emb.table_class": "MemorySparseTable",
    "table_parameters.emb.shard_num": 10,
    f"{BEFORE}accessor_class": "SparseAccessor",
    f"{BEFORE}fea_dim": WIDTH + 2,
    f"{BEFORE}embedx_dim": WIDTH - 1,
    f"{BEFORE}embedx_threshold": 7.0,
    f"{BEFORE}embed_sgd_param.name": "SparseAdaGradSGDRule",
    f"{BEFORE}embed_sgd_param.adagrad.learning_rate": 0.05,
    f"{BEFORE}embed_sgd_param.adagrad.initial_g2sum": 1.0,
    f"{BEFORE}embed_sgd_param.adagrad.weight_bounds": [-10.0, 10.0],
    f"{BEFORE}embedx_sgd_param.name": "StdAdaGradSGDRule",
    f"{BEFORE}embedx_sgd_param.adagrad.learning_rate": 0.2,
    f"{BEFORE}embedx_sgd_param.adagrad.initial_range": 0.3,
    f"{BEFORE}ctr_accessor_param.nonclk_coeff": 0.1,
    f"{BEFORE}ctr_accessor_param.click_coeff": 1.0,
    f"{BEFORE}ctr_accessor_param.base_threshold": 1.5,
    f"{BEFORE}ctr_accessor_param.show_click_decay_rate": 0.5,
    f"{BEFORE}ctr_accessor_param.delete_threshold": 4.5,
    f"{BEFORE}ctr_accessor_param.delete_after_unseen_days": 30.0,
    f"{BEFORE}ctr_accessor_param.ssd_unseenday_threshold": 1,
}
PARAM = {"embedx_threshold": 7.0, "show_click_decay_rate": 0.5, "delete_threshold": 4.5}
RULES = ("adagrad", {"rate": 0.05, "first_sum": 1.0}), ("std_adagrad", {"rate": 0.2})


def network(fleet: Fleet, mode: str = "async", configs: Any = CONFIGS) -> tuple[Any, Any, Any]:
    """The slope of a row, of a batch's mean, is its sample's weights over the samples."""
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 3
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        ids = layers.data("ids", [1], dtype="int64", lod_level=1)
        weights, show = layers.data("weights", [WIDTH]), layers.data("show", [1], dtype="int64")
        shows = layers.cast(show, "float32")
        entry = paddle.distributed.ShowClickEntry(shows.name, layers.data("click", [1]).name)
        rows = contrib.layers.sparse_embedding(
            ids, [10, WIDTH], padding_idx=0, entry=entry, param_attr=fluid.ParamAttr(name="emb")
        )
        total = layers.sequence_pool(rows, "sum")
        loss = layers.mean(layers.reduce_sum(layers.elementwise_mul(total, weights), dim=1))
        strategy = DistributedStrategy()
        strategy.a_sync = mode != "sync"
        if mode == "geo":
            strategy.a_sync_configs = {"k_steps": 2}
        strategy.sparse_table_configs = {"emb": configs}
        fleet.distributed_optimizer(optimizer.Adam(0.1), strategy).minimize(loss)
    return main, startup, rows


def feeds(seed: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    for _ in range(STEPS):
        lengths = rng.integers(1, 4, SAMPLES)
        ids = rng.choice([0, 5, -7, 1 << 62, 11, 12, 13, 2_000_000_000], (int(lengths.sum()), 1))
        yield {
            "ids": fluid.create_lod_tensor(ids, [lengths.tolist()], fluid.CPUPlace()),
            "weights": rng.normal(0, 1, (SAMPLES, WIDTH)).astype(np.float32),
            "show": rng.integers(1, 3, (SAMPLES, 1)),
            "click": rng.integers(0, 2, (SAMPLES, 1)).astype(np.float32),
        }


def push(table: Accessor, feed: dict[str, Any]) -> None:
    """What the original's worker sends of a batch: of each row the sum of shows, clicks and slopes."""
    ids, bounds = np.array(feed["ids"])[:, 0], feed["ids"].lod()[0]
    sent: dict[int, list[Any]] = {}
    for sample in range(SAMPLES):
        for id in ids[bounds[sample] : bounds[sample + 1]].tolist():
            if id != 0:
                told = sent.setdefault(id, [0.0, 0.0, np.zeros(WIDTH, np.float32)])
                told[0] += float(feed["show"][sample, 0])
                told[1] += float(feed["click"][sample, 0])
                told[2] = told[2] + feed["weights"][sample]
    for id, told in sent.items():
        table.push(id, *told)


def first_rows(scope: Any) -> Any:
    def drawn(id: int) -> tuple[np.ndarray, np.ndarray]:
        found = table_of(scope, "emb").rows()
        (at,) = np.flatnonzero(found.ids == id)
        memory = found.slots["memory"][at]
        return np.zeros(1, np.float32), (found.values[at] if memory[0] else memory)[3:].copy()

    return drawn


@contextmanager
def trained(
    monkeypatch: pytest.MonkeyPatch, mode: str, dirname: str | None = None
) -> Iterator[tuple[Fleet, Any]]:
    """A worker that has met two servers."""
    monkeypatch.setattr("tests.fleet.test_tables.network", lambda made, fleet, is_open: network(fleet, mode))
    with ExitStack() as stack:
        worker, program = stack.enter_context(job(2, lambda: None, dirname))
        worker.init_worker()
        yield worker, program


def agree(scope: Any, expected: Accessor) -> None:
    found = table_of(scope, "emb").rows()
    assert sorted(found.ids) == sorted(expected.rows)
    for id, values in zip(found.ids.tolist(), found.values, strict=True):
        row = expected.rows[id]
        assert values[:2] == pytest.approx([row.shows, row.clicks])
        np.testing.assert_allclose(values[2:], expected.pull(id, WIDTH), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_servers_move_rows_by_the_tables_own_rule_and_another_job_goes_on(
    mode: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with trained(monkeypatch, mode) as (worker, (main, _, rows)):
        scope, executor = fluid.global_scope(), fluid.Executor()
        expected = Accessor(*RULES, PARAM, first_rows(scope))
        for feed in feeds(1):
            executor.run(main, feed=feed)
            push(expected, feed)
        agree(scope, expected)
        assert {row.is_whole for row in expected.rows.values()} == {True, False}
        worker.shrink()
        *_, feed = feeds(2)
        executor.run(main, feed=feed)  # with which the day ends
        push(expected, feed)
        expected.end_day()
        agree(scope, expected)
        assert 0 < len(expected.rows) < 7
        worker.save_persistables(executor, str(tmp_path), main)
    with trained(monkeypatch, mode, str(tmp_path)) as (worker, (main, _, rows)):
        scope, executor = fluid.global_scope(), fluid.Executor()
        loaded = executor.run(main.clone(for_test=True), feed=feed, fetch_list=[rows], return_numpy=False)[0]
        ids = np.array(feed["ids"])[:, 0].tolist()
        np.testing.assert_allclose(
            np.array(loaded), [expected.pull(id, WIDTH) for id in ids], rtol=1e-5, atol=1e-6
        )
        expected.drawn = first_rows(scope)
        for feed in feeds(3):
            executor.run(main, feed=feed)
            push(expected, feed)
        agree(scope, expected)


def alone_trained(clip: Any, dirname: str) -> tuple[Any, Any]:
    """Rows and a bias after a step of one process, which saves what looks up the rows."""
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed, executor = 3, fluid.Executor()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
        ids = layers.data("ids", [1], dtype="int64")
        rows = contrib.layers.sparse_embedding(ids, [10, WIDTH], param_attr=fluid.ParamAttr(name="emb"))
        bias = layers.create_parameter([WIDTH], "float32", name="bias", is_bias=True)
        loss = layers.mean(layers.reduce_sum(layers.elementwise_add(rows, bias), dim=1))
        made = optimizer.SGD(1.0, grad_clip=clip)
        Fleet().init(is_collective=False).distributed_optimizer(made, strategy()).minimize(loss)
        executor.run(startup)
        for _ in range(2):  # the second one reads rows
            executor.run(main, feed={"ids": np.array([[1]] * 30 + [[2]])})
        fluid.io.save_inference_model(dirname, ["ids"], [rows], executor, main)
        found = table_of(fluid.global_scope(), "emb").rows()
        order = np.argsort(found.ids)
        return found.values[order], fluid.global_scope().find_var("bias").get_tensor().array().copy()


@pytest.mark.parametrize("clip", [fluid.clip.GradientClipByNorm, fluid.clip.GradientClipByGlobalNorm])
def test_clips_of_the_optimizer_pass_over_a_table_that_has_a_rule(clip: Any, tmp_path: Path) -> None:
    rows, bias = alone_trained(None, str(tmp_path))
    assert rows[:, 0].tolist() == [60, 2]
    clipped, own = alone_trained(clip(2.5), str(tmp_path))  # the slope of the bias is 2 long, counts are more
    np.testing.assert_array_equal(clipped, rows)
    np.testing.assert_array_equal(own, bias)
    _, own = alone_trained(clip(1.0), str(tmp_path))
    np.testing.assert_allclose(own, bias / 2, rtol=1e-6)


def test_a_saved_model_has_rows_as_programs_see_them_and_no_counts(tmp_path: Path) -> None:
    rows, _ = alone_trained(None, str(tmp_path))
    executor = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        program, _, targets = fluid.io.load_inference_model(str(tmp_path), executor)
        (found,) = executor.run(program, feed={"ids": np.array([[1], [2], [3]])}, fetch_list=targets)
    np.testing.assert_allclose(found, [*rows[:, 2:], np.zeros(WIDTH)], rtol=1e-6)


@pytest.mark.parametrize(("kind", "slots"), [(3.0, ["memory", "other"]), (1.0, ["memory"])])
def test_rows_that_another_rule_has_moved_go_on_without_its_state(
    kind: float, slots: list[str], tmp_path: Path
) -> None:
    values, memory = np.ones((1, 3), np.float32), np.full((1, 5), 0.5, np.float32)
    columns = {"Param": values, "Counts": values[:, :2], "Memory": memory}
    others = {} if kind == 3.0 else {"Other": memory}
    found = counted_columns.read(tmp_path, np.array([7]), {**columns, **others}, 3, {"kind": kind})
    assert found.values.tolist() == [[1] * 5]
    assert list(found.slots) == slots
    assert found.slots["memory"].tolist() == [[1, 0, 0, 0, 0]]


def strategy(**changed: Any) -> DistributedStrategy:
    made = DistributedStrategy()
    made.a_sync = True
    told = {**CONFIGS, **{f"{BEFORE}{key.replace('__', '.')}": value for key, value in changed.items()}}
    made.sparse_table_configs = {"emb": {key: value for key, value in told.items() if value is not None}}
    return made


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"accessor_class": "CtrDymfAccessor"}, NotInThisRelease, "CtrDymfAccessor"),
        ({"embed_sgd_param__name": "SparseSharedAdamSGDRule"}, NotInThisRelease, "embed_sgd_param.name"),
        ({"graph_sgd_param__nodeid_slot": 3}, NotInThisRelease, "nodeid_slot"),
        (
            {"embedx_sgd_param__name": None},
            BadStrategy,
            "not which: give .*embedx_sgd_param.name, one of Sparse",
        ),
        (
            {"embedx_sgd_param__name": "SparseAdamSGDRule"},
            BadStrategy,
            "needs .*embedx_sgd_param.adam.learning_rate",
        ),
        ({"embed_sgd_param__adagrad__weight_bounds": 3}, MistypedConfig, r"is \[least, most\], and not 3"),
        ({"ctr_accessor_param__click_coeff": "many"}, MistypedConfig, "'many', and a number is needed"),
    ],
)
def test_what_a_rule_of_a_table_cannot_be_is_said_by_its_key(
    changed: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        strategy(**changed)


def test_a_rule_is_for_rows_of_the_width_that_is_told_of_a_table_that_makes_them(tmp_path: Path) -> None:
    alone = Fleet().init(is_collective=False)
    with pytest.raises(
        BadStrategy, match=r"'.*fea_dim' is 9, and the rows of 'emb' have 4 numbers, so it is 6"
    ):
        network(alone, configs={**CONFIGS, f"{BEFORE}fea_dim": 9})
    with pytest.warns(UserWarning, match="workers of GEO move rows of 'emb' by the program's optimizer"):
        network(alone, "geo")
    ids = layers.data("ids", [1], dtype="int64")
    loss = layers.mean(layers.embedding(ids, [9, WIDTH], is_sparse=True, param_attr="emb"))
    with pytest.raises(BadArgument, match=r"'emb' has a declared height, .*sparse_embedding"):
        alone.distributed_optimizer(optimizer.SGD(0.1), strategy()).minimize(loss)
    with pytest.raises(NotInThisRelease, match="give emb a rule of its own cannot be written"):
        strategy().save_to_prototxt(str(tmp_path / "s"))
