"""What goes with fleet of 1.x: what workers say and measure together, and who sends their gradients."""

import importlib
import logging
import threading

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._fleet.errors import FleetError
from paddle.fluid.incubate.fleet.parameter_server.pslib import fleet
from paddle.fluid.incubate.fleet.utils.fleet_util import FleetUtil
from paddle.fluid.incubate.fleet.utils.fs import LocalFS
from paddle.fluid.incubate.fleet.utils.hdfs import HDFSClient


def test_it_measures_what_was_counted_and_sets_it_to_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    fleet.init()
    util, main = FleetUtil(), fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.scope_guard(fluid.Scope()):
        chance, label = fluid.data("chance", [None, 2], "float32"), fluid.data("label", [None, 1], "int64")
        area, _, (_, _, positive, negative) = fluid.layers.auc(chance, label)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        told = np.array([0.1, 0.4, 0.35, 0.8], np.float32)
        feed = {"chance": np.column_stack([1 - told, told]), "label": np.array([[0], [0], [1], [1]])}
        found = exe.run(feed=feed, fetch_list=[area])[0].item()
        names = {"stat_pos": positive.name, "stat_neg": negative.name}
        assert util.get_global_auc(**names) == pytest.approx(found) == pytest.approx(0.75, abs=1e-3)
        util.print_global_auc(**names, print_prefix="day 1")
        for name in names.values():
            util.set_zero(name)
        assert util.get_global_auc(**names) == 0.5
        assert util.get_global_auc(fluid.global_scope(), "nobody", "none") is None
        with pytest.raises(FleetError, match="no value of nobody"):
            util.set_zero("nobody")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("day 1 global auc = 0.7")
    assert lines[1] == "not found auc bucket: nobody, none"


def test_worker_0_says_it(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.init()
    util = FleetUtil()
    with caplog.at_level(logging.INFO):
        util.rank0_print("a")
        util.rank0_info("b")
        util.rank0_error("c")
    logged = [each.message for each in caplog.records if each.thread == threading.get_ident()]
    assert (capsys.readouterr().out, logged) == ("a\n", ["b", "c"])


def test_what_is_not_here_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match=r"FleetUtil\.save_delta_model is not in"):
        FleetUtil("transpiler").save_delta_model()
    with pytest.raises(AttributeError, match="does not exist"):
        FleetUtil().save_detla_model  # noqa: B018  looked up
    with pytest.raises(FleetError, match="pslib, transpiler"):
        FleetUtil("other")
    with pytest.raises(NotImplementedError, match="use LocalFS"):
        HDFSClient("hadoop", {}).is_exist("/model")
    with pytest.raises(AttributeError, match="has no 'is_exits'; it has cat, "):
        HDFSClient("hadoop", {}).is_exits("/model")
    assert LocalFS().is_exist("/")
    with pytest.raises(ImportError, match=r"by fleet\.util\.barrier"):
        importlib.import_module("paddle.fluid.incubate.fleet.utils.fleet_barrier_util")


def test_a_communicator_can_be_started_and_stopped_and_says_what_it_does_not_take() -> None:
    made = fluid.communicator.Communicator(fluid.Program())
    assert made is not None and not made.is_running()
    made.start()
    assert made.is_running()
    made.stop()
    assert not made.is_running() and fluid.Communicator is fluid.communicator.Communicator
    with pytest.raises(ValueError, match="takes the program of a trainer"):
        fluid.Communicator("main")
    with pytest.raises(NotImplementedError, match=r"Communicator\(envs=\.\.\.\) is not in this release"):
        fluid.Communicator(fluid.Program(), envs={"communicator_thread_pool_size": "5"})
