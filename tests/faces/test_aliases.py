"""Packages that have two names: what is imported by the one is what is imported by the other."""

import importlib

import pytest

import paddle

MODULES = ["fluid", "fluid.core", "fluid.layers", "fluid.layers.nn", "fluid.contrib.decoder", "fluid.tests"]
MODULES += ["dataset", "dataset.common", "dataset.mnist", "reader", "reader.creator", "reader.decorator"]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_by_its_name_in_v2_is_the_very_same(name: str) -> None:
    found = importlib.import_module(f"paddle.v2.{name}")
    assert found is importlib.import_module(f"paddle.{name}")
    assert found.__name__ == found.__spec__.name == f"paddle.{name}"


def test_what_is_imported_of_one_is_that_of_the_other() -> None:
    from paddle.v2.fluid.executor import Executor

    from paddle.dataset import image
    from paddle.v2 import fluid

    assert fluid is paddle.fluid and Executor is paddle.fluid.Executor
    assert image is paddle.v2.image is paddle.v2.dataset.image
    assert paddle.utils.Ploter is paddle.v2.plot.Ploter
    assert paddle.v2.default_main_program is paddle.fluid.default_main_program


def test_what_2_6_calls_base_is_fluid() -> None:
    from paddle.base.framework import Program

    from paddle.base import core

    assert paddle.base is paddle.fluid and core is paddle.fluid.core and Program is paddle.static.Program


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("role_maker", "base.role_maker"),
        ("base", "base.fleet_base"),
        ("collective", "collective"),
        ("fleet_util", "utils.fleet_util"),
        ("utils", "utils.utils"),
        ("parameter_server.distribute_transpiler", "parameter_server.distribute_transpiler"),
        ("parameter_server.mode", "parameter_server.mode"),
        ("parameter_server.pslib", "parameter_server.pslib"),
    ],
)
def test_what_2_6_has_of_fleet_1_x_is_the_very_same(name: str, home: str) -> None:
    found = importlib.import_module(f"paddle.incubate.distributed.fleet.{name}")
    assert found is importlib.import_module(f"paddle.fluid.incubate.fleet.{home}")
    assert getattr(paddle.incubate.distributed.fleet, name.partition(".")[0])


def test_transpilers_have_their_home_since_2_5() -> None:
    from paddle.distributed.transpiler import DistributeTranspiler

    found = importlib.import_module("paddle.distributed.transpiler.distribute_transpiler")
    assert found.DistributeTranspiler is DistributeTranspiler is paddle.fluid.DistributeTranspiler


def test_what_is_not_here_of_incubate_distributed_says_so() -> None:
    with pytest.raises(ImportError, match=r"paddle\.incubate\.distributed\.models is not in this release"):
        importlib.import_module("paddle.incubate.distributed.models")
    with pytest.raises(ImportError, match="recompute_hybrid"):
        from paddle.incubate.distributed.fleet import recompute_hybrid  # noqa: F401


def test_what_neither_has_is_said_by_the_name_that_was_written() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'paddle\.v2\.fluid\.nowhere'"):
        importlib.import_module("paddle.v2.fluid.nowhere")
