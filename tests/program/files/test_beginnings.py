"""Servers of transpiled programs that load what trainers of a job before saved: they begin with that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadFile, MissingFile
from tests.fleet.processes import free_place
from tests.pserver.service.endpoints import TIMEOUT_S

STEPS = 3
Load = Callable[[str, fluid.Program, fluid.Program], None]


def network(seed: int) -> tuple[fluid.Program, fluid.Program, Any]:
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = seed
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        ids = fluid.layers.data(name="ids", shape=[1], dtype="int64")
        rows = fluid.layers.embedding(ids, [40, 8], is_sparse=True, param_attr="table")
        hidden = fluid.layers.fc(rows, size=64, act="tanh")
        loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(hidden, size=1) - 1.0))
        fluid.optimizer.Adam(learning_rate=0.05).minimize(loss)
    return main, startup, loss


def steps(main: fluid.Program, loss: Any, which: range) -> list[float]:
    executor = fluid.Executor()
    feeds = [{"ids": np.random.default_rng(step).integers(0, 40, (6, 1))} for step in which]
    return [executor.run(main, feed=feed, fetch_list=[loss])[0].item() for feed in feeds]


def save(folder: Path) -> list[float]:
    """A few steps, what they came to as files, and the losses of the next ones."""
    with fluid.scope_guard(fluid.Scope()):
        main, startup, loss = network(seed=7)
        fluid.Executor().run(startup)
        steps(main, loss, range(STEPS))
        fluid.io.save_persistables(fluid.Executor(), str(folder), main)
        return steps(main, loss, range(STEPS, 2 * STEPS))


def transpiled(endpoints: list[str], **config: Any) -> tuple[fluid.DistributeTranspiler, Any]:
    main, startup, loss = network(seed=99)
    told = fluid.DistributeTranspilerConfig()
    told.min_block_size = 64  # so that all but biases are cut
    for name, value in config.items():
        setattr(told, name, value)
    made = fluid.DistributeTranspiler(told)
    made.transpile(0, main, ",".join(endpoints), 1, startup_program=startup)
    return made, (made.get_trainer_program(), startup, loss)


def serve(program: fluid.Program, end: Future[None]) -> None:
    try:
        fluid.Executor().run(program, scope=fluid.Scope())
        end.set_result(None)
    except BaseException as error:
        end.set_exception(error)


def server(endpoints: list[str], own: str, load: Load, folder: Path, **config: Any) -> fluid.Program:
    """A server's program that has loaded what is in the folder."""
    made, _ = transpiled(endpoints, **config)
    program, start = made.get_pserver_programs(own)
    fluid.Executor().run(start, scope=fluid.Scope())
    load(str(folder), program, start)
    return program


def _by_predicate(folder: str, program: fluid.Program, _: fluid.Program) -> None:
    fluid.io.load_vars(None, folder, program, predicate=lambda each: "@GRAD" not in each.name)


def _by_list(folder: str, program: fluid.Program, _: fluid.Program) -> None:
    fluid.io.load_vars(None, folder, program, [each for each in program.list_vars() if each.persistable])


WAYS: dict[str, Load] = {
    "persistables": lambda folder, program, _: fluid.io.load_persistables(None, folder, program),
    "startup": lambda folder, _, start: fluid.io.load_persistables(None, folder, start),
    "predicate": _by_predicate,
    "list": _by_list,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_job_goes_on_from_what_its_servers_load(way: str, is_cut: bool, tmp_path: Path) -> None:
    expected = save(tmp_path)
    endpoints = [free_place() for _ in range(2)]
    ends: list[Future[None]] = [Future() for _ in endpoints]
    programs = [server(endpoints, own, WAYS[way], tmp_path, slice_var_up=is_cut) for own in endpoints]
    for told in zip(programs, ends, strict=True):
        threading.Thread(target=serve, args=told, daemon=True).start()
    with fluid.scope_guard(fluid.Scope()):
        _, (main, startup, loss) = transpiled(endpoints, slice_var_up=is_cut)
        fluid.Executor().run(startup)
        found = steps(main, loss, range(STEPS, 2 * STEPS))
        main._carrier.close()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    for end in ends:
        end.result(TIMEOUT_S)


def test_who_says_no_to_all_begins_with_the_first_values_of_trainer_0(tmp_path: Path) -> None:
    made, _ = transpiled(["127.0.0.1:1", "127.0.0.1:2"])
    program = made.get_pserver_program("127.0.0.1:2")
    fluid.io.load_vars(fluid.Executor(), str(tmp_path), program, predicate=lambda each: False)
    assert not program._beginning.arrays
    assert not program._beginning.tables


def test_what_is_not_there_or_of_another_model_or_one_file_is_said(tmp_path: Path) -> None:
    made, _ = transpiled(["127.0.0.1:1", "127.0.0.1:2"])
    program = made.get_pserver_program("127.0.0.1:1")
    executor = fluid.Executor()
    with pytest.raises(MissingFile, match=r"there is no .*fc_0.b_0, from which servers would read parameter"):
        fluid.io.load_persistables(executor, str(tmp_path), program)
    with pytest.raises(BadFile, match=r"begins with files of their own.*'all'"):
        fluid.io.load_persistables(executor, str(tmp_path), program, filename="all")
    save(tmp_path)
    (tmp_path / "fc_0.w_0").write_bytes((tmp_path / "table").read_bytes())
    with pytest.raises(BadFile, match=r"fc_0.w_0 holds a shape of \[40, 8\].*is \[8, 64\]"):
        fluid.io.load_persistables(executor, str(tmp_path), program)
