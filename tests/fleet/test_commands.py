"""Workers of jobs whose servers are `paddle pserver`s and no process of the program."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._fleet.fleet import Fleet
from paddle._fleet.older import OlderFleet
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy
from paddle._program.description.written import fresh
from tests.pserver.conftest import Start, start_pservers

__all__ = ["start_pservers"]
FEED = {"ids": np.array([[1], [4]]), "label": np.ones((2, 1), np.float32)}


def worker(fleet: Fleet, start: Start, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A fleet of one worker, that trains a table and a dense parameter by Adam."""
    servers = start(ports_num_for_sparse=1)
    port = servers.port
    monkeypatch.setenv("PADDLE_SHARED_PORTS", f"{port},1,1")
    fleet.init(UserDefinedRoleMaker(worker_num=1, server_endpoints=[f"{servers.hosts[0]}:{port}"]))
    ids, label = fluid.layers.data("ids", [1], dtype="int64"), fluid.layers.data("label", [1])
    rows = fluid.layers.embedding(ids, [6, 2], is_sparse=True, param_attr="table")
    loss = fluid.layers.mean(fluid.layers.square_error_cost(fluid.layers.fc(rows, 1, param_attr="w"), label))
    strategy = None
    if not isinstance(fleet, OlderFleet):
        strategy = DistributedStrategy()
        strategy.a_sync = False
    fleet.distributed_optimizer(fluid.optimizer.Adam(0.1), strategy).minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    return loss


def losses(loss: Any, steps: int) -> list[float]:
    exe = fluid.Executor()
    return [exe.run(feed=FEED, fetch_list=[loss])[0].item() for _ in range(steps)]


@pytest.mark.parametrize("made", [Fleet, OlderFleet])
def test_worker_0_gives_the_servers_what_init_server_names(
    made: Any, start_pservers: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fresh(), fluid.scope_guard(fluid.Scope()):
        first = made()
        loss = worker(first, start_pservers, monkeypatch)
        first.init_worker()
        losses(loss, 3)
        first.save_persistables(fluid.Executor(), str(tmp_path), fluid.default_main_program())
        expected = losses(loss, 3)
        first.stop_worker()
    with fresh(), fluid.scope_guard(fluid.Scope()):
        second = made()
        loss = worker(second, start_pservers, monkeypatch)
        if made is Fleet:
            dense = [each for each in fluid.default_main_program().list_vars() if _is_dense(each)]
            fluid.io.load_vars(fluid.Executor(), str(tmp_path), vars=dense)
        second.init_server(str(tmp_path))
        second.init_worker()
        np.testing.assert_allclose(losses(loss, 3), expected, rtol=1e-5)
        second.stop_worker()


def _is_dense(variable: Any) -> bool:
    return fluid.io.is_persistable(variable) and not variable.name.startswith("table")


LOADS = "if fleet.is_server():\n    fluid.io.load_vars(exe, folder, main)\n    fleet.run_server()\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("if fleet.is_server():\n    fleet.init_server(args.folder)\n", r"fleet.init_server\(folder\) is"),
        (LOADS, "what its servers load is"),
    ],
)
def test_a_program_that_has_only_its_servers_begin_from_a_folder_is_told(
    text: str, what: str, start_pservers: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = ModuleType("__main__")
    program.__file__ = str(tmp_path / "train.py")
    (tmp_path / "train.py").write_text(text)
    monkeypatch.setitem(sys.modules, "__main__", program)
    with fresh(), fluid.scope_guard(fluid.Scope()):
        fleet = Fleet()
        worker(fleet, start_pservers, monkeypatch)
        with pytest.warns(UserWarning, match=rf"train.py:2: {what} not run in this job"):
            fleet.init_worker()
        fleet.stop_worker()
    (tmp_path / "train.py").write_text("fleet.init_server()\n")
    with fresh(), fluid.scope_guard(fluid.Scope()), warnings.catch_warnings():
        warnings.simplefilter("error")
        fleet = Fleet()
        worker(fleet, start_pservers, monkeypatch)
        fleet.init_worker()
        fleet.stop_worker()
