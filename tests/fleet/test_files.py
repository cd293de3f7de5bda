"""What fleet saves of a job that goes on, and loads into one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._fleet.errors import BadRole, FleetError, TooEarly
from paddle._fleet.fleet import Fleet
from paddle._fleet.place import Role
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.workers import Workers
from paddle.fluid import optimizer
from tests.fleet.test_tables import FEEDS, STEPS, job, network, steps

EXE = fluid.Executor


def adam() -> Any:
    return optimizer.Adam(0.05)


@pytest.fixture(scope="module", params=[True, False], ids=["open", "declared"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two folders of a job, behind three steps and behind six, and the losses of all."""
    folder = tmp_path_factory.mktemp("saved")
    with fluid.scope_guard(fluid.Scope()):
        alone = network(adam(), is_open=request.param)
        EXE().run(alone[1])
        expected = []
        for place in range(2):
            expected += steps(alone, FEEDS[place * STEPS :][:STEPS], request.param)
            fluid.io.save_persistables(EXE(), str(folder / f"{place}"), alone[0])
    return request.param, folder, expected


@pytest.mark.parametrize("when", ["before", "behind"])
def test_servers_begin_from_what_worker_0_loads_before_or_behind_it_has_said_that_it_comes(
    saved: Any, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The latter where the program's text says so."""
    is_open, folder, expected = saved
    monkeypatch.setattr("paddle._fleet.fleet.loads_later", lambda: when == "behind")
    with job(2, adam, is_open=is_open) as (worker, program):
        for call in ("load_model", "init_worker")[:: 1 if when == "before" else -1]:
            getattr(worker, call)(*[str(folder / "0")] if call == "load_model" else [])
        assert steps(program, FEEDS[STEPS:], is_open) == pytest.approx(expected[STEPS:], rel=1e-5)
        with pytest.raises(TooEarly, match=r"and have begun: load before fleet\.init_worker"):
            worker.load_model(str(folder / "1"))


@pytest.mark.parametrize(("worker", "is_in_text"), [(0, True), (1, False), (1, True)])
def test_what_worker_0_loads_behind_it_the_others_have_loaded_who_run_the_same_text(
    worker: int, is_in_text: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They meet servers that have begun from it, since these begin when worker 0 comes."""
    monkeypatch.setattr("paddle._fleet.workers.loads_later", lambda: is_in_text)
    workers = object.__new__(Workers)
    workers.carrier = SimpleNamespace(has_begun=True)  # type: ignore[assignment]
    workers._place = SimpleNamespace(id=worker)  # type: ignore[assignment]
    if worker and is_in_text:
        workers.go_on_from("saved", None)
    else:
        with pytest.raises(TooEarly, match="and have begun"):
            workers.go_on_from("saved", None)


@pytest.mark.parametrize(("worker", "days"), [(0, [7]), (1, [])])
def test_a_day_ends_once_where_all_workers_end_it(
    worker: int, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []
    group = SimpleNamespace(parameters=[SimpleNamespace(is_open=True)], key="key")
    keeper = SimpleNamespace(exchange=SimpleNamespace(shrink=ended.append))
    scope = SimpleNamespace(keepers={"key": keeper})
    monkeypatch.setattr("paddle._fleet.workers.global_scope", lambda: scope)
    monkeypatch.setattr(Workers, "_groups", lambda _: [group])
    workers = object.__new__(Workers)
    workers._is_apart = workers._comes_later = False
    workers._place = SimpleNamespace(id=worker)  # type: ignore[assignment]
    workers.shrink(7)
    assert ended == days


@pytest.mark.parametrize("needs", ["barrier_worker", "save", "shrink", "stop_worker"])
def test_worker_0_that_comes_later_comes_when_anything_needs_servers(
    needs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._fleet.fleet.loads_later", lambda: True)
    with job(1, adam) as (worker, _):
        worker.init_worker()
        assert worker._workers is not None and worker._workers.carrier is not None
        carrier = worker._workers.carrier
        assert not carrier.is_known
        getattr(worker, needs)(*[str(tmp_path)] if needs == "save" else [])
        assert carrier.is_known


def test_a_worker_computes_with_one_saved_model_after_another_and_trains_none(saved: Any) -> None:
    is_open, folder, _ = saved
    with job(2, adam, is_open=is_open) as (worker, program):
        worker.init_worker()
        tested = program[0].clone(for_test=True), program[1], program[2]
        for place in (0, 1, 0):
            worker.load_inference_model(str(folder / f"{place}"))
            with fluid.scope_guard(fluid.Scope()):
                alone = network(adam(), is_open=is_open)
                fluid.io.load_persistables(EXE(), str(folder / f"{place}"), alone[0])
                right = steps((alone[0].clone(for_test=True), *alone[1:]), FEEDS[:2], is_open)
            assert steps(tested, FEEDS[:2], is_open) == pytest.approx(right, rel=1e-6)
        with pytest.raises(FleetError, match="computes with it and trains no more"):
            steps(program, FEEDS[:1], is_open)
        with pytest.raises(FleetError, match="call shrink\\(\\) before it"):
            worker.shrink(1)
        steps(tested, FEEDS[:1], is_open)  # what was overcome ends no job


def values() -> dict[str, bytes]:
    """Of dense parameters, in the current scope."""
    scope = fluid.global_scope()
    return {name: np.array(scope.var(name).get_tensor()).tobytes() for name in ("w", "fc_0.b_0")}


def test_one_table_and_all_dense_parameters_are_saved_by_number_or_into_one_file(tmp_path: Path) -> None:
    with job(2, adam, is_open=False) as (worker, program):
        worker.init_worker()
        steps(program, FEEDS[:1], False)
        worker.save_one_table(0, str(tmp_path / "table"), 0)
        worker.save_one_table(1, str(tmp_path / "dense"), 0)
        worker.save_dense_params(EXE(), str(tmp_path / "one" / "file"), fluid.global_scope(), program[0])
        with pytest.raises(FleetError, match="there is no table 2; there are 0: emb, 1: all dense"):
            worker.save_one_table(2, str(tmp_path), 0)
        own = values()
        for told in ({"dirname": "dense"}, {"dirname": "one", "filename": "file"}):
            with fluid.scope_guard(fluid.Scope()):
                told["dirname"] = str(tmp_path / told["dirname"])
                fluid.io.load_vars(EXE(), main_program=program[0], vars=list(own), **told)
                assert values() == own
    assert {path.name for path in (tmp_path / "table").iterdir()} == {"emb_txt"}
    assert len(list((tmp_path / "table" / "emb_txt").glob("*.txt"))) == 2


def test_what_is_saved_by_one_word_is_a_model_where_it_says_of_what(tmp_path: Path) -> None:
    with job(1, adam) as (worker, program), fluid.program_guard(*program[:2]):
        worker.init_worker()
        worker.save(str(tmp_path / "all"))
        worker.save(str(tmp_path / "model"), feed=["ids"], fetch=[program[2].block.var("fc_0.tmp_1")])
    assert (tmp_path / "model" / "__model__").is_file()
    assert not (tmp_path / "all" / "__model__").exists()
    assert all((tmp_path / each / "emb_txt" / "emb.block0.txt").is_file() for each in ("all", "model"))


def test_every_mode_of_saving_is_of_all_rows_and_says_so(tmp_path: Path) -> None:
    with job(1, adam) as (worker, program), fluid.program_guard(*program[:2]):
        worker.init_worker()
        target, table = [program[2].block.var("fc_0.tmp_1")], Path("emb_txt", "emb.block0.txt")
        worker.save_inference_model(EXE(), str(tmp_path / "0"), ["ids"], target)
        for mode in (1, 2):
            with pytest.warns(UserWarning, match=f"save_inference_model: mode={mode} is as mode=0") as said:
                worker.save_inference_model(EXE(), str(tmp_path / str(mode)), ["ids"], target, mode=mode)
            assert {each.filename for each in said if each.category is UserWarning} == {__file__}
    whole = (tmp_path / "0" / table).read_text()
    assert whole == (tmp_path / "1" / table).read_text() == (tmp_path / "2" / table).read_text()
    with pytest.warns(UserWarning, match="there is no cluster"), pytest.warns(match="mode=1 is as") as said:
        Fleet().init().load_model("saved", mode=1)
    assert {each.filename for each in said if each.category is UserWarning} == {__file__}


def test_what_cannot_be_loaded_or_saved_is_said() -> None:
    told = {"worker_endpoints": ["127.0.0.1:1"], "server_endpoints": ["127.0.0.1:2"]}
    server = Fleet().init(UserDefinedRoleMaker(role=Role.SERVER, current_id=0, **told))
    with pytest.raises(BadRole, match=r"fleet.load_model\(\) is for workers, and this process is a server"):
        server.load_model("saved", 0)
    with pytest.raises(FleetError, match=r"fleet\.save_one_table: mode is a number from 0 to 5, and not 6"):
        Fleet().init(UserDefinedRoleMaker(current_id=0, **told)).save_one_table(0, "saved", 6)
    with pytest.warns(UserWarning, match=r"fleet.load_model\('saved'\): there is no cluster"):
        Fleet().init().load_model("saved")
    with pytest.raises(AttributeError, match=r"save_cache_model .*none are apart from others"):
        _ = paddle.distributed.fleet.save_cache_model
