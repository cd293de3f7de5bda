"""``fluid.load``: which variables it sets, and to what."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _values() -> dict[str, np.ndarray]:
    return {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in ("w", "b")}


@pytest.mark.parametrize("kind", ["save", "save_params"])
def test_a_list_of_variables_is_of_files_that_save_did_not_write(kind: str, tmp_path: Path) -> None:
    """Which 1.8.5 and 2.6.2 ask for the latter only, and pass over where ``save`` wrote the model."""
    fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w", bias_attr="b")
    main, exe = fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    for name in ("w", "b"):
        tensor = fluid.global_scope().find_var(name).get_tensor()
        tensor.set(np.full(tensor.shape(), 7, "float32"), fluid.CPUPlace())
    path = str(tmp_path / "m")
    fluid.save(main, path) if kind == "save" else fluid.io.save_params(exe, path, main)
    exe.run(fluid.default_startup_program())
    before = _values()
    fluid.load(main, path, exe, [main.global_block().var("w")])
    found = _values()
    assert (found["w"] == 7).all()
    assert (found["b"] == (7 if kind == "save" else before["b"])).all()


@pytest.mark.parametrize("kind", ["save", "save_params"])
def test_a_learning_rate_without_axes_is_loaded(kind: str, tmp_path: Path) -> None:
    """As 2.6.2 keeps and saves it."""
    fluid.layers.create_global_var([1], 0.5, "float32", persistable=True, name="rate")
    main, exe, path = fluid.default_main_program(), fluid.Executor(), tmp_path / "m"
    exe.run(fluid.default_startup_program())
    if kind == "save":
        fluid.save(main, str(path))
        (tmp_path / "m.pdopt").write_bytes(pickle.dumps({"rate": np.array(0.25, "float32")}, 2))
    else:
        tensor = fluid.global_scope().find_var("rate").get_tensor()
        tensor.set(np.array(0.25, "float32"), fluid.CPUPlace())
        fluid.io.save_persistables(exe, str(path), main)
    exe.run(fluid.default_startup_program())
    fluid.load(main, str(path), exe)
    np.testing.assert_array_equal(fluid.global_scope().find_var("rate").get_tensor(), np.float32([0.25]))
