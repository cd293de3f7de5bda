"""Names that the documents know and this release does not have, however a program asks for them."""

import importlib
import importlib.resources
import subprocess
import sys

import pytest

import paddle
from paddle._absent import AbsentName, NotInThisRelease

KNOWN = [
    "paddle.fluid.dygraph",
    "paddle.jit",
    "paddle.nn.quant",
    "paddle.nn.functional.sparse_attention",
    "paddle.fleet",
    "paddle.distributed.spawn",
    "paddle.fluid.contrib.slim",
    "paddle.utils.plotcurve",
    "paddle.fluid.contrib.mixed_precision.fp16_utils",
    "paddle.fluid.contrib.utils.lookup_table_utils",
    "paddle.fluid.incubate.fleet.parameter_server.pslib.node",
]


@pytest.mark.parametrize("name", KNOWN)
def test_importing_one_says_so(name):
    with pytest.raises(ImportError, match=rf"^{name} is not in this release"):
        importlib.import_module(name)
    with pytest.raises(ImportError, match=rf"^{name} is not in this release"):
        importlib.import_module(f"{name}.layers")
    package, _, leaf = name.rpartition(".")
    with pytest.raises(ImportError, match=rf"^{name} is not in this release"):
        exec(f"from {package} import {leaf}")


@pytest.mark.parametrize("name", [*KNOWN, "paddle.Model"])
def test_looking_one_up_says_so_and_asking_whether_it_is_there_says_no(name):
    package, _, leaf = name.rpartition(".")
    module = importlib.import_module(package)
    with pytest.raises(AbsentName, match=rf"^{name} is not in this release"):
        getattr(module, leaf)
    assert not hasattr(module, leaf)
    assert issubclass(AbsentName, NotInThisRelease)


@pytest.mark.parametrize(
    "name", ["paddle.nowhere", "paddle.v2.nowhere", "paddle.dataset.nowhere", "paddle.init"]
)
def test_what_nobody_knows_is_an_ordinary_error(name):
    with pytest.raises(ModuleNotFoundError, match=f"^No module named '{name}'"):
        importlib.import_module(name)


def test_a_misspelt_name_is_answered_with_the_nearest():
    for written, meant in (
        ("paddle.layr", "layer"),
        ("paddle.v2.layer.fcc", "fc"),
        ("paddle.optimizer.Adem", "Adam"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", f"import paddle.v2\n{written}"],
            env={"PYTHONPATH": str(importlib.resources.files(paddle).parent)},
            capture_output=True,
            text=True,
        )
        assert f"Did you mean: '{meant}'?" in done.stderr


def test_reloading_explains_once():
    before = len(sys.meta_path)
    importlib.reload(paddle)
    assert len(sys.meta_path) == before


@pytest.mark.parametrize("name", ["_C_ops", "_legacy_C_ops"])
def test_operators_that_compute_at_once_are_imported_by_libraries_and_say_so_when_they_are_used(name):
    operators = getattr(paddle, name)
    assert not hasattr(operators, "matmul")
    with pytest.raises(
        NotInThisRelease, match=r"^paddle\._C_ops\.matmul is not in this release.*enable_static"
    ):
        operators.matmul(1, 2)
