"""Tables of a job on disk: rows and what their optimizer remembers, written by some servers and read by
however many; a job that goes on from them learns as if it had never ended."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._fleet.errors import FleetError
from paddle._fleet.fleet import Fleet
from paddle._fleet.older import OlderFleet
from paddle._fleet.place import Role
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy
from paddle._program.errors import BadFile
from paddle._program.files import tables
from paddle._program.files.links import show
from paddle._program.running.open_table import table_of
from paddle.fluid import contrib, layers, optimizer
from tests.fleet.processes import free_place
from tests.waiting import PATIENCE_S

IDS, STEPS = [5, -7, 1 << 62, 11, 2_000_000_000, 0], 3
FEEDS = [np.random.default_rng(seed).choice(IDS, (8, 1)) for seed in range(2 * STEPS)]
TABLE = fluid.ParamAttr(name="emb", initializer=fluid.initializer.Uniform(-0.5, 0.5))
Made = tuple[fluid.Program, fluid.Program, Any]


def network(made: Any, fleet: Fleet | None = None, is_open: bool = True) -> Made:
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 3
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        ids, label = layers.data("ids", [1], dtype="int64"), layers.data("label", [1])
        if is_open:
            rows = contrib.layers.sparse_embedding(ids, [10, 4], param_attr=TABLE)
        else:
            rows = layers.embedding(ids, [12, 4], is_sparse=True, param_attr=TABLE)
        loss = layers.mean(layers.square_error_cost(layers.fc(rows, 1, param_attr="w"), label))
        strategy = DistributedStrategy()
        strategy.a_sync = False
        if fleet is not None:
            told = None if isinstance(fleet, OlderFleet) else strategy
            made = fleet.distributed_optimizer(made, told)
        made.minimize(loss)
    return main, startup, loss


def steps(made: Made, feeds: list[np.ndarray], is_open: bool = True) -> list[float]:
    executor, found = fluid.Executor(), []
    for ids in feeds:
        own = ids if is_open else ids % 12
        feed = {"ids": own, "label": (own % 5).astype(np.float32) / 5}
        found.append(executor.run(made[0], feed=feed, fetch_list=[made[2]])[0].item())
    executor.close()  # which is no goodbye: another one may go on
    return found


@contextmanager
def job(
    count: int,
    made: Any,
    dirname: str | None = None,
    is_open: bool = True,
    kind: type[Fleet] = Fleet,
    then: Callable[[Fleet], None] = lambda server: None,
) -> Iterator[tuple[Fleet, Made]]:
    """A worker that has not met its servers yet, which have begun, and done something else before."""
    ports = [free_place() for _ in range(count)]
    ends: list[Future[None]] = [Future() for _ in ports]

    def fleet_of(role: int, id: int) -> Fleet:
        told = {"worker_endpoints": ["127.0.0.1:1"], "server_endpoints": ports}
        return kind().init(UserDefinedRoleMaker(role=role, current_id=id, **told))

    servers = [fleet_of(Role.SERVER, id) for id in range(count)]
    for server in servers:
        network(made(), server, is_open)
        server.init_server(*([dirname] if dirname else []))
        then(server)

    def serve(server: Fleet, end: Future[None]) -> None:
        try:
            server.run_server()
            end.set_result(None)
        except BaseException as error:
            end.set_exception(error)

    for server, end in zip(servers, ends, strict=True):
        threading.Thread(target=serve, args=(server, end), daemon=True).start()
    with fluid.scope_guard(fluid.Scope()):
        worker = fleet_of(Role.WORKER, 0)
        program = network(made(), worker, is_open)
        fluid.Executor().run(program[1])
        yield worker, program
        worker.stop_worker()
    for end in ends:
        end.result(PATIENCE_S)


def load_dense(dirname: str, program: fluid.Program, own: set[str]) -> None:
    """As worker 0 of a job does, between startup and init_worker."""
    saved = {path.name for path in Path(dirname).iterdir() if path.is_file()}
    assert saved >= own
    wanted = [each for each in program.list_vars() if each.persistable and each.name in saved]
    fluid.io.load_vars(fluid.Executor(), dirname, program, vars=wanted)


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("made", [lambda: optimizer.Adam(0.05), lambda: optimizer.Adagrad(0.1)])
def test_a_job_goes_on_from_what_another_saved_on_another_number_of_servers(
    made: Any, is_open: bool, tmp_path: Path
) -> None:
    with fluid.scope_guard(fluid.Scope()):
        alone = network(made(), is_open=is_open)
        fluid.Executor().run(alone[1])
        expected = steps(alone, FEEDS, is_open)
    with job(3, made, is_open=is_open) as (worker, program):
        worker.init_worker()
        np.testing.assert_allclose(steps(program, FEEDS[:STEPS], is_open), expected[:STEPS], rtol=1e-5)
        worker.save_persistables(fluid.Executor(), str(tmp_path), program[0])
    assert {path.name for path in (tmp_path / "emb_txt").iterdir()} == {
        f"emb.block{block}.{ending}" for block in range(3) for ending in ("meta", "txt")
    }
    with job(2, made, str(tmp_path), is_open) as (worker, program):
        load_dense(str(tmp_path), program[0], {"w", "fc_0.b_0"})
        worker.init_worker()
        np.testing.assert_allclose(steps(program, FEEDS[STEPS:], is_open), expected[STEPS:], rtol=1e-5)


@pytest.mark.parametrize("is_open", [True, False])
def test_an_executor_that_is_closed_takes_no_worker_along(is_open: bool, tmp_path: Path) -> None:
    with job(1, lambda: optimizer.SGD(0.1), is_open=is_open) as (worker, program):
        worker.init_worker()
        steps(program, FEEDS[:1], is_open)
        first = steps(program, FEEDS[1:2], is_open)
        assert steps(program, FEEDS[1:2], is_open) < first  # it still learns
        worker.stop_worker()  # which takes tables along
        worker.save_persistables(fluid.Executor(), str(tmp_path), program[0])
    assert (tmp_path / "emb_txt").is_dir()


@pytest.mark.parametrize(("is_open", "before"), [(True, 2), (False, 2), (False, 0)])
def test_servers_of_1x_begin_from_all_that_a_folder_has(is_open: bool, before: int, tmp_path: Path) -> None:
    def made() -> Any:
        return optimizer.Adam(0.05)

    with fluid.scope_guard(fluid.Scope()):
        alone = network(made(), is_open=is_open)
        fluid.Executor().run(alone[1])
        expected = steps(alone, FEEDS[:STEPS], is_open)
        if not before:
            fluid.io.save_persistables(fluid.Executor(), str(tmp_path), alone[0])
        expected += steps(alone, FEEDS[STEPS:], is_open)
    if before:
        with job(before, made, is_open=is_open, kind=OlderFleet) as (worker, program):
            worker.init_worker()
            steps(program, FEEDS[:STEPS], is_open)
            worker.save_persistables(fluid.Executor(), str(tmp_path), program[0])
    with job(3, made, str(tmp_path), is_open, OlderFleet) as (worker, program):
        worker.init_worker()
        np.testing.assert_allclose(steps(program, FEEDS[STEPS:], is_open), expected[STEPS:], rtol=1e-5)


@pytest.mark.parametrize("which", ["main_program", "startup_program"])
def test_what_servers_of_1x_load_counts_and_any_program_loads_what_they_saved(
    which: str, tmp_path: Path
) -> None:
    def there(each: Any) -> bool:
        return each.persistable and (tmp_path / each.name).is_file()

    def load(server: Fleet) -> None:
        fluid.io.load_vars(fluid.Executor(), str(tmp_path), getattr(server, which), predicate=there)

    def made() -> Any:
        return optimizer.Adam(0.05)

    with job(2, made, is_open=False, kind=OlderFleet) as (worker, program):
        worker.init_worker()
        steps(program, FEEDS[:STEPS], is_open=False)
        worker.save_persistables(fluid.Executor(), str(tmp_path))
    assert (tmp_path / "emb").is_file()
    with fluid.scope_guard(fluid.Scope()):
        alone = network(made(), is_open=False)
        fluid.Executor().run(alone[1])
        fluid.io.load_persistables(fluid.Executor(), str(tmp_path), alone[0])
        expected = steps(alone, FEEDS[STEPS:], is_open=False)
    with job(3, made, is_open=False, kind=OlderFleet, then=load) as (worker, program):
        worker.init_worker()
        np.testing.assert_allclose(steps(program, FEEDS[STEPS:], is_open=False), expected, rtol=1e-5)


def test_a_folder_that_is_not_there_or_lacks_a_parameter_is_said(tmp_path: Path) -> None:
    told = {"worker_endpoints": ["127.0.0.1:1"], "server_endpoints": ["127.0.0.1:2"]}
    server = OlderFleet().init(UserDefinedRoleMaker(role=Role.SERVER, current_id=0, **told))
    network(optimizer.SGD(0.1), server, is_open=False)
    with pytest.raises(FleetError, match="there is no such folder here"):
        server.init_server(model_dir=str(tmp_path / "none"))
    with pytest.raises(FleetError, match="there is no parameter 'emb' in it"):
        server.init_server(str(tmp_path))
    with pytest.raises(TypeError, match="dirname"):
        server.init_server(dirname=str(tmp_path))


def test_a_table_that_is_not_whole_is_a_bad_file_by_its_name(tmp_path: Path) -> None:
    own = tmp_path / "emb_txt"
    own.mkdir()
    (own / "emb.block0.txt").write_text("4\t1\t0\t1\t0.5,0.5,\n6\t1\t0\t1\t0.5,\n")
    told = {"worker_endpoints": ["127.0.0.1:1"], "server_endpoints": ["127.0.0.1:2"]}
    server = Fleet().init(UserDefinedRoleMaker(role=Role.SERVER, current_id=0, **told))
    network(optimizer.SGD(0.1), server, is_open=True)
    with pytest.raises(BadFile, match=r"rows in .*emb\.block0\.txt are not all of one width"):
        server.init_server(str(tmp_path))


def test_what_the_optimizer_remembers_of_rows_stands_beside_them_as_the_original_has_it(
    tmp_path: Path,
) -> None:
    with fluid.scope_guard(fluid.Scope()):
        made = network(optimizer.Adam(0.05, beta1=0.8))
        fluid.Executor().run(made[1])
        steps(made, FEEDS[:2])
        fluid.io.save_persistables(fluid.Executor(), str(tmp_path), made[0])
        table = table_of(fluid.global_scope(), "emb")
        assert table is not None
        rows = table.rows()
    meta = (tmp_path / "emb_txt" / "emb.block0.meta").read_text().splitlines()
    assert "row_names=Param,Moment1,Moment2,Beta1Pow,Beta2Pow" in meta
    assert "row_dims=4,4,4,1,1" in meta
    assert f"count={len(rows.ids)}" in meta
    lines = (tmp_path / "emb_txt" / "emb.block0.txt").read_text().splitlines()
    found = {int(line.split("\t")[0]): line.split("\t")[-1].rstrip(",").split(",") for line in lines}
    for id, row, first, second in zip(
        rows.ids, rows.values, rows.slots["first"], rows.slots["second"], strict=True
    ):
        numbers = np.array(found[int(id) % (1 << 64)], np.float32)
        np.testing.assert_array_equal(numbers[:12], np.concatenate([row, first, second]))
        np.testing.assert_allclose(numbers[12:], [0.8**3, 0.999**3], rtol=1e-6)
    assert not [path for path in tmp_path.iterdir() if "emb_moment" in path.name]


def test_one_process_goes_on_from_a_table_that_it_saved(tmp_path: Path) -> None:
    losses: list[list[float]] = []
    for part in (FEEDS, FEEDS[:STEPS], FEEDS[STEPS:]):
        with fluid.scope_guard(fluid.Scope()):
            made = network(optimizer.Adam(0.05))
            fluid.Executor().run(made[1])
            if losses[1:]:
                fluid.io.load_persistables(fluid.Executor(), str(tmp_path), made[0])
            losses.append(steps(made, part))
            fluid.io.save_persistables(fluid.Executor(), str(tmp_path), made[0])
    np.testing.assert_allclose(losses[1] + losses[2], losses[0], rtol=1e-6)


def test_an_inference_model_has_its_table_and_finds_rows_in_it(tmp_path: Path) -> None:
    with fluid.scope_guard(fluid.Scope()):
        made = network(optimizer.SGD(0.1))
        fluid.Executor().run(made[1])
        steps(made, FEEDS[:1])
        feed = {"ids": FEEDS[0], "label": np.zeros((8, 1), np.float32)}
        target = made[0].global_block().var("fc_0.tmp_1")
        test = made[0].clone(for_test=True)
        expected = fluid.Executor().run(test, feed=feed, fetch_list=[target.name])[0]
        fluid.io.save_inference_model(str(tmp_path), ["ids"], [target], fluid.Executor(), made[0])
    with fluid.scope_guard(fluid.Scope()):
        program, feeds, targets = fluid.io.load_inference_model(str(tmp_path), fluid.Executor())
        found = fluid.Executor().run(program, feed={feeds[0]: FEEDS[0]}, fetch_list=targets)[0]
    np.testing.assert_array_equal(found, expected)
    with fluid.scope_guard(fluid.Scope()):  # in 2.x, told that it is a folder as of fluid, or not
        exe = paddle.static.Executor()
        with pytest.raises(FileNotFoundError, match="is a folder as of fluid"):
            paddle.static.load_inference_model(str(tmp_path), exe)
        told = {"model_filename": "__model__"}
        program, feeds, targets = paddle.static.load_inference_model(str(tmp_path), exe, **told)
        found = exe.run(program, feed={feeds[0]: FEEDS[0]}, fetch_list=targets)[0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("links", [True, False])
def test_programs_of_2_2_find_a_model_of_a_job_and_its_table_in_a_folder_of_their_own(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*told: Any) -> None:
        raise PermissionError(errno.EPERM, "this disk has one name for a file")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    own, executor = tmp_path / "dnn_plugin", paddle.static.Executor()
    with job(2, lambda: optimizer.SGD(0.1)) as (worker, program):
        worker.init_worker()
        steps(program, FEEDS[:1])
        target = program[0].global_block().var("fc_0.tmp_1")
        for _ in range(2):  # the second time instead of the first one's
            worker.save_inference_model(executor, str(tmp_path), ["ids"], [target], program[0])
    found = []
    for folder in (tmp_path, own):
        with fluid.scope_guard(fluid.Scope()):
            test, feeds, targets = fluid.io.load_inference_model(str(folder), executor)
            found.append(executor.run(test, feed={feeds[0]: FEEDS[0]}, fetch_list=targets)[0])
    np.testing.assert_array_equal(*found)
    for file in (tmp_path / "emb_txt").iterdir():
        assert (own / "emb_txt" / file.name).samefile(file) == links
    assert {path.name for path in own.iterdir()} == {"__model__", "w", "fc_0.b_0", "emb_txt"}


def test_a_file_is_shown_whatever_another_process_of_the_same_number_left(tmp_path: Path) -> None:
    own, there = tmp_path / "w", tmp_path / "dnn_plugin" / "w"
    left = there.with_name(f"w.new{os.getpid()}")
    for value in ("1", "2"):
        own.write_text(value)
        show(own, there)
        left.unlink(missing_ok=True)
        left.hardlink_to(own)
        show(own, there)
        assert there.samefile(own)
    own.unlink()
    with pytest.raises(FileNotFoundError):
        show(own, there)
    assert {path.name for path in there.parent.iterdir()} == {there.name, left.name}


def test_rows_that_were_not_used_for_days_are_forgotten() -> None:
    alone = Fleet().init(is_collective=True)
    with fluid.scope_guard(fluid.Scope()):
        made = network(optimizer.SGD(0.1))
        fluid.Executor().run(made[1])
        first, second = np.array([[1]]), np.array([[2]])
        steps(made, [first, second])
        table = table_of(fluid.global_scope(), "emb")
        assert table is not None and sorted(table.rows().ids) == [1, 2]
        alone.shrink(2)
        steps(made, [second])
        alone.shrink(2)
        steps(made, [second])
        assert sorted(table.rows().ids) == [2]


def test_tables_are_chosen_by_name_and_what_is_missing_is_named(tmp_path: Path) -> None:
    with fluid.scope_guard(fluid.Scope()):
        made = network(optimizer.SGD(0.1))
        fluid.Executor().run(made[1])
        steps(made, FEEDS[:1])
        tables.save(tmp_path, made[0], fluid.global_scope(), "emb", 2)
    from paddle._fleet.tables import read

    def all_of_them(name: str, ids: np.ndarray) -> np.ndarray:
        return np.ones(len(ids), np.bool_)

    assert list(read(str(tmp_path), None, made[0], all_of_them)) == ["emb"]
    assert list(read(str(tmp_path), "emb", made[0], all_of_them)) == ["emb"]
    assert len(read(str(tmp_path), None, made[0], lambda name, ids: ids > 5)["emb"][0].ids) < len(set(IDS))
    with pytest.raises(FleetError, match="there is no table 'c' in it; there are emb"):
        read(str(tmp_path), ["c"], made[0], all_of_them)
    with pytest.raises(FleetError, match="there is no such folder here"):
        read(str(tmp_path / "none"), None, made[0], all_of_them)
    text = tmp_path / "emb_txt" / "emb.block0.txt"
    text.write_text("".join(line.replace(",\n", ",1,\n") for line in text.read_text().splitlines(True)))
    with pytest.raises(ValueError, match="not of one table"):
        read(str(tmp_path), None, made[0], all_of_them)
