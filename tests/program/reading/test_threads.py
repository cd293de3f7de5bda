"""Threads of train_from_dataset compute at the same time, and nothing is lost or counted twice."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._data.setters import DatasetFactory
from paddle._program.lowering.counting import counted_apart
from tests.pserver.service.endpoints import Endpoints
from tests.waiting import PATIENCE_S

L = fluid.layers
ROWS, FILES, BATCH, RATE = 40, 4, 10, 0.05
BATCHES = FILES * ROWS // BATCH


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Samples of three numbers, an id and a label, all others than their neighbours."""
    random = np.random.default_rng(0)
    names = [tmp_path / f"part-{number}" for number in range(FILES)]
    for name in names:
        x, ids = random.normal(size=(ROWS, 3)), random.integers(0, 7, ROWS)
        rows = [f"3 {a} {b} {c} 1 {id} 1 {id % 2}\n" for (a, b, c), id in zip(x, ids, strict=True)]
        name.write_text("".join(rows))
    return [str(name) for name in names]


def dataset(used: list[Any], files: list[str]) -> Any:
    made = DatasetFactory().create_dataset("QueueDataset")
    made.set_use_var(used)
    made.set_batch_size(BATCH)
    made.set_filelist(files)
    return made


def read(files: list[str]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array([line.split() for name in files for line in Path(name).read_text().splitlines()], float)
    return rows[:, 1:4], rows[:, 5].astype(int)


class Together:
    """A function that each thread calls once a batch, the first time not before another one does, too."""

    def __init__(self, threads: int) -> None:
        self.all = threading.Barrier(threads)
        self.met, self.now, self.most = threading.local(), 0, 0
        self.one = threading.Lock()

    def __call__(self, x: Any) -> np.ndarray:
        with self.one:
            self.now += 1
            self.most = max(self.most, self.now)
        if not hasattr(self.met, "before"):
            self.met.before = True
            self.all.wait(PATIENCE_S)
        with self.one:
            self.now -= 1
        return np.asarray(x)


def called(function: Callable[..., Any], x: Any, width: int) -> Any:
    out = fluid.default_main_program().global_block().create_var("called", shape=[-1, width], dtype="float32")
    L.py_func(function, x, out)
    return out


def network(function: Callable[..., Any], rate: Any = RATE) -> tuple[list[Any], Any, Any]:
    """A loss whose gradient is the same whatever the parameters are, so the order of batches does not
    matter; and the counts of auc."""
    x, ids, label = L.data("x", [3]), L.data("ids", [1], dtype="int64"), L.data("label", [1], dtype="int64")
    seen = called(function, x, 3)
    rows = L.embedding(ids, [7, 2], is_sparse=True, param_attr="table")
    loss = L.mean(L.fc(x, 1, param_attr="w", bias_attr=False)) + L.mean(rows)
    counts = L.auc(L.softmax(L.fc(seen, 2)), label)[2]
    fluid.optimizer.SGD(rate).minimize(loss)
    return [x, ids, label], loss, counts


def value(name: str) -> np.ndarray:
    found = fluid.global_scope().find_var(name)
    assert found is not None
    return np.array(found.get_tensor())


def moved(files: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """By how much all batches together move the two parameters, at a rate of 1."""
    x, ids = read(files)
    return -x.sum(0)[:, None] / BATCH, -np.bincount(ids, minlength=7)[:, None] / (2 * BATCH) * np.ones((1, 2))


def seeded() -> fluid.Executor:
    fluid.default_startup_program().random_seed = 3
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe


@pytest.mark.parametrize("threads", [2, 3])
def test_every_batch_moves_and_counts_once_while_threads_compute_at_once(
    files: list[str], threads: int
) -> None:
    together = Together(threads)
    used, _, counts = network(together)
    exe = seeded()
    before = value("w"), value("table")
    exe.train_from_dataset(dataset=dataset(used, files), thread=threads)
    assert together.most >= 2
    for name, first, by in zip(("w", "table"), before, moved(files), strict=True):
        np.testing.assert_allclose(value(name), first + RATE * by, atol=1e-5)
    assert sum(value(each.name).sum() for each in counts[2:]) == ROWS * FILES


def test_steps_of_a_schedule_are_counted_once_each(files: list[str]) -> None:
    for name in files:
        Path(name).write_text("3 1 1 1 1 0 1 0\n" * ROWS)  # any order gives the same then
    used, _, _ = network(Together(2), L.exponential_decay(RATE, decay_steps=1, decay_rate=0.9))
    exe = seeded()
    before = value("w")
    exe.train_from_dataset(dataset=dataset(used, files), thread=2)
    assert value("@LR_DECAY_COUNTER@").item() == BATCHES - 1
    rates = RATE * 0.9 ** np.arange(BATCHES)
    np.testing.assert_allclose(value("w"), before - rates.sum(), atol=1e-5)


def test_what_threads_print_is_written_line_by_line(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    used, loss, _ = network(np.asarray)
    out, exe = io.StringIO(), seeded()
    written: list[str] = []
    monkeypatch.setattr(out, "write", written.append)
    monkeypatch.setattr("sys.stdout", out)
    exe.train_from_dataset(
        dataset=dataset(used, files), thread=2, fetch_list=[loss], print_period=1, debug=True
    )
    lines = [each for each in written if each]
    assert lines and all(each.startswith(("time: ", "thread ")) and each.endswith("\n") for each in lines)


def transpiled(names: list[str], sync: bool) -> fluid.Program:
    turned = fluid.DistributeTranspiler()
    turned.transpile(0, pservers=",".join(names), trainers=1, sync_mode=sync)
    return turned.get_trainer_program()


def test_with_servers_they_compute_at_once_where_nobody_is_in_step(files: list[str]) -> None:
    together, endpoints = Together(2), Endpoints(2)
    used, loss, counts = network(together)
    main = transpiled(endpoints.names, sync=False)
    exe = seeded()
    before = value("w"), value("table")
    exe.train_from_dataset(main, dataset(used, files), thread=2, fetch_list=[loss, "w"], print_period=3)
    assert together.most == 2
    for name, first, by in zip(("w", "table"), before, moved(files), strict=True):
        np.testing.assert_allclose(value(name), first + RATE * by, atol=1e-5)
    assert sum(value(each.name).sum() for each in counts[2:]) == ROWS * FILES
    exe.close()
    assert endpoints.outcomes() == [True, True]


def test_in_step_they_take_turns(files: list[str]) -> None:
    alone, endpoints = Together(1), Endpoints(1)
    used, _, _ = network(alone)
    main = transpiled(endpoints.names, sync=True)
    exe = seeded()
    before = value("w")
    exe.train_from_dataset(main, dataset(used, files), thread=2)
    assert alone.most == 1
    np.testing.assert_allclose(value("w"), before + RATE * moved(files)[0], atol=1e-5)
    exe.close()
    assert endpoints.outcomes() == [True]


@pytest.mark.parametrize("seed", [0, 7])
def test_no_two_batches_drop_out_the_same_whatever_the_seed(files: list[str], seed: int) -> None:
    masks: list[bytes] = []

    def keep(mask: Any) -> np.ndarray:
        masks.append(np.asarray(mask).tobytes())
        return np.asarray(mask)

    fluid.default_main_program().random_seed = seed
    used = [L.data("x", [3]), L.data("ids", [1], dtype="int64"), L.data("label", [1], dtype="int64")]
    ones = L.fill_constant_batch_size_like(used[0], [-1, 64], "float32", 1.0)
    called(keep, L.dropout(ones, 0.5), 64)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(2):
        exe.train_from_dataset(dataset=dataset(used, files), thread=2)
    assert len(masks) == len(set(masks)) == 2 * BATCHES


def test_the_next_pass_runs_what_the_one_before_has_made_ready(files: list[str]) -> None:
    used, _, _ = network(Together(2))
    exe = seeded()
    for _ in range(2):
        exe.train_from_dataset(dataset=dataset(used, files), thread=2)
        ready = [of[program] for of in fluid.global_scope().ready.values() for program in of]
    assert len(ready) == 3  # the startup program, and this one for each thread


def test_an_interrupt_is_raised_when_no_thread_moves_anything_any_more(
    files: list[str], request: pytest.FixtureRequest
) -> None:
    raised, once = threading.Event(), threading.Lock()

    def interrupts(x: Any) -> np.ndarray:
        if once.acquire(blocking=False):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # wakes who waits, too
            raised.wait(0.3)  # a batch that lasts
        return np.asarray(x)

    used, _, _ = network(interrupts)
    exe = seeded()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & has it ignored
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with pytest.raises(KeyboardInterrupt):
        try:
            exe.train_from_dataset(dataset=dataset(used, files), thread=2)
        finally:
            raised.set()
            still = [thread for thread in threading.enumerate() if thread.name.startswith("train-")]
            assert not still
    exe.train_from_dataset(dataset=dataset(used, files), thread=2)


def block_of(write: Callable[[Any], None]) -> list[Any]:
    counter = L.create_global_var([1], 0.0, "float32", persistable=True, name="counter")
    write(counter)
    return fluid.default_main_program().global_block().ops


def test_what_counts_goes_behind_with_all_that_follows_from_it() -> None:
    def write(counter: Any) -> None:
        loss = L.mean(L.fc(L.data("x", [3]), 1))
        L.assign(counter + loss, counter)
        L.scale(counter, 2.0)
        fluid.optimizer.SGD(0.1).minimize(loss)

    parted = counted_apart(block_of(write))
    assert parted is not None
    assert [op.type for op in parted[1]] == ["elementwise_add", "assign", "scale"]


def test_a_loss_that_depends_on_a_count_is_not_parted() -> None:
    def write(counter: Any) -> None:
        L.increment(counter)
        fluid.optimizer.SGD(0.1).minimize(L.mean(L.fc(L.data("x", [3]), 1)) * counter)

    assert counted_apart(block_of(write)) is None


def test_a_count_of_what_is_written_again_is_not_parted() -> None:
    def write(counter: Any) -> None:
        x = L.data("x", [1])
        total = L.reduce_sum(x)
        L.assign(counter + total, counter)
        L.assign(L.reduce_mean(x), total)

    assert counted_apart(block_of(write)) is None


@pytest.mark.parametrize("servers", [0, 2])
def test_rows_of_tables_without_a_height_are_moved_once_by_each_batch(files: list[str], servers: int) -> None:
    ids, endpoints = L.data("ids", [1], dtype="int64"), Endpoints(servers)
    used = [L.data("x", [3]), ids, L.data("label", [1], dtype="int64")]
    half = fluid.ParamAttr("open", initializer=fluid.initializer.Constant(0.5))
    rows = fluid.contrib.layers.sparse_embedding(ids, [1, 2], param_attr=half)
    together = Together(2)
    fluid.optimizer.SGD(RATE).minimize(L.mean(rows) + 0.0 * L.mean(called(together, used[0], 3)))
    main = transpiled(endpoints.names, sync=False) if servers else fluid.default_main_program()
    exe = seeded()
    exe.train_from_dataset(main, dataset(used, files), thread=2)
    assert together.most == 2
    found = fluid.global_scope().find_var("open")
    assert found is not None
    learned = found.value.rows()
    order = np.argsort(learned.ids)
    np.testing.assert_array_equal(learned.ids[order], np.arange(7))
    np.testing.assert_allclose(learned.values[order], 0.5 + RATE * moved(files)[1], atol=1e-5)
    exe.close()
    assert all(endpoints.outcomes())
