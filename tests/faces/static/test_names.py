"""Names through which programs of the 2.x generation reach what is at home elsewhere."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle import _homes
from paddle._absent import AbsentName
from paddle._program.description.written import fresh
from paddle._public_names import LISTED

NEEDS_INIT = {"paddle.distributed.fleet": {"util"}}


@pytest.mark.parametrize("module", LISTED)
def test_every_public_name_of_2_x_is_there_or_said_to_be_absent_by_name(module: str) -> None:
    found = import_module(module)
    for name in sorted({*LISTED[module].split()} - NEEDS_INIT.get(module, set())):
        try:
            assert getattr(found, name) is not None or name == "get_cudnn_version"
        except AbsentName as error:
            assert str(error).startswith(f"{module}.{name} is not in this release")
    with pytest.raises(AttributeError, match=f"{module}.nowhere does not exist"):
        found.nowhere  # noqa: B018
    assert "nowhere" not in dir(found)


def test_every_name_that_a_module_says_it_has_is_there() -> None:
    for module in LISTED:
        found = import_module(module)
        lacking = [
            n
            for n in set(getattr(found, "__all__", ())) - NEEDS_INIT.get(module, set())
            if not hasattr(found, n)
        ]
        assert lacking == [], module


def test_datasets_are_there_by_the_names_of_2_1_to_2_4() -> None:
    for name in ("DatasetFactory", "InMemoryDataset", "QueueDataset"):
        assert getattr(paddle, name) is getattr(paddle.fluid.dataset, name)


def test_a_function_is_one_whatever_was_looked_up_before_it() -> None:
    """A module of its name, imported for another name, would take its place."""
    assert paddle.static.InputSpec.__name__ == "InputSpec"
    importlib.reload(paddle.static)
    assert paddle.static.InputSpec.__name__ == "InputSpec"
    assert callable(paddle.static.data)


def test_a_function_that_changes_its_tensor_and_is_not_built_is_told_to_do_so() -> None:
    with pytest.raises(
        AbsentName, match=r"paddle.cauchy_ is not in this release: it changes a tensor in its place"
    ):
        _ = paddle.cauchy_


@pytest.mark.parametrize("file", _homes.FILES)
def test_what_programs_import_by_files_of_the_original_is_that_of_the_package(file: str) -> None:
    found = import_module(f"paddle.{file}")
    assert found is import_module(f"paddle.{_homes.FILES[file]}")


def test_no_such_file_takes_the_place_of_what_its_package_has_by_that_name() -> None:
    """A file becomes an attribute of its package when it is imported, and its code would find that."""
    program = """
from importlib import import_module
from paddle import _homes
for file in _homes.FILES:
    package, _, name = file.rpartition(".")
    had = vars(import_module(f"paddle.{package}")).get(name)
    found = import_module(f"paddle.{file}")
    assert had in (None, found), file
"""
    subprocess.run([sys.executable, "-P", "-c", program], check=True)


def test_such_files_are_attributes_too() -> None:
    assert paddle.static.nn.sequence_lod.sequence_pool is paddle.fluid.layers.sequence_pool
    assert paddle.optimizer.optimizer.Optimizer is paddle.optimizer.Optimizer
    assert issubclass(paddle.nn.initializer.Constant, paddle.nn.initializer.Initializer)
    assert paddle.framework.in_dynamic_mode is paddle.in_dynamic_mode
    assert paddle.tensor.fill_constant is paddle.fluid.layers.fill_constant
    assert paddle.framework.Program is paddle.static.Program
    assert paddle.text.datasets.imdb.Imdb is paddle.text.Imdb
    assert import_module("paddle.text.datasets.wmt14").WMT14 is paddle.text.WMT14
    with pytest.raises(ModuleNotFoundError, match=r"paddle\.static\.nn\.nowhere"):
        import_module("paddle.static.nn.nowhere")


@pytest.fixture
def alone() -> Iterator[None]:
    with fresh():
        paddle.enable_static()
        yield


def test_a_program_and_its_values_travel_as_bytes(alone: None, tmp_path: Path) -> None:
    x = paddle.static.data("x", [None, 2])
    y = paddle.static.nn.fc(x, 3)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    fed = {"x": np.ones((1, 2), "float32")}
    (expected,) = executor.run(feed=fed, fetch_list=[y])
    program = paddle.static.serialize_program([x], y)
    values = paddle.static.serialize_persistables([x], y, executor)
    paddle.static.save_to_file(str(tmp_path / "it"), program)
    with paddle.static.scope_guard(paddle.static.Scope()):
        again = paddle.static.deserialize_program(paddle.static.load_from_file(str(tmp_path / "it")))
        paddle.static.deserialize_persistables(again, values, executor)
        (found,) = executor.run(again, feed=fed, fetch_list=[y.name])
    np.testing.assert_array_equal(found, expected)


def test_what_is_scattered_adds_up_in_zeros(alone: None) -> None:
    index = paddle.static.data("index", [3, 1], "int64")
    updates = paddle.static.data("updates", [3])
    out = paddle.scatter_nd(index, updates, [4])
    fed = {"index": np.array([[1], [1], [3]]), "updates": np.array([1, 2, 4], "float32")}
    assert paddle.static.Executor().run(feed=fed, fetch_list=[out])[0].tolist() == [0.0, 3.0, 0.0, 4.0]


def test_the_end_of_data_has_one_name_wherever_programs_look_for_it() -> None:
    found = {
        paddle.common_ops_import.core.EOFException,
        paddle.core.EOFException,
        paddle.fluid.core.EOFException,
    }
    assert len(found) == 1
    assert issubclass(found.pop(), Exception)


def test_a_normal_program_is_what_its_keywords_say(alone: None) -> None:
    x = paddle.static.data("x", [None, 2])
    y = paddle.static.nn.fc(x, 3)
    paddle.mean(y)
    program, normal = paddle.static.default_main_program(), paddle.static.normalize_program
    brief = [op.type for op in normal(program, x, y, legacy_format=False).global_block().ops]
    whole = [op.type for op in normal(program, x, y, skip_prune_program=True).global_block().ops]
    assert "reduce_mean" not in brief
    assert "reduce_mean" in whole and set(brief) < set(whole)
    with pytest.raises(TypeError, match="feed_vars are Variables of the program, not 'x'"):
        normal(program, ["x"], y)
    with pytest.raises(TypeError, match=r"program is a paddle\.static\.Program, not None"):
        normal(None, x, y)
    with pytest.raises(ValueError, match="does not depend on 'z': leave it out"):
        normal(program, [x, paddle.static.data("z", [1])], y)
