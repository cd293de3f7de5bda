"""What is being written is all in one place, and begins anew within a block."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.description.written import Writing, fresh, now
from paddle.framework import get_default_dtype, set_default_dtype

L = fluid.layers


def write() -> None:
    """Something of everything that is kept."""
    paddle.enable_static()
    paddle.seed(5)
    set_default_dtype("float64")
    fluid.initializer.set_global_initializer(fluid.initializer.Constant(2.0))
    L.fc(L.data("x", [3]), 1)
    fluid.global_scope().var("here")


def said() -> tuple[object, ...]:
    writing = now()
    return tuple(getattr(writing, name) for name in Writing.__slots__)


def test_a_block_begins_anew_and_leaves_nothing_behind() -> None:
    with fresh():
        write()
        outer = said()
        with fresh(is_static=False):
            assert fluid.default_main_program().global_block().ops == []
            assert fluid.default_startup_program().random_seed == 0
            assert fluid.unique_name.generate("fc") == "fc_0"
            assert fluid.global_scope().find_var("here") is None
            assert get_default_dtype() == "float32"
            assert paddle.in_dynamic_mode()
            write()
        assert said() == outer
        assert fluid.unique_name.generate("fc") == "fc_1"


def test_an_error_leaves_nothing_behind_either() -> None:
    before = said()
    with pytest.raises(ZeroDivisionError), fresh():
        write()
        _ = 1 / 0
    assert said() == before


def test_a_check_of_the_installation_writes_nothing_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    with fresh():
        write()
        outer, ops = said(), len(fluid.default_main_program().global_block().ops)
        fluid.install_check.run_check()
        assert (said(), len(fluid.default_main_program().global_block().ops)) == (outer, ops)
        assert fluid.unique_name.generate("fc") == "fc_1"
    assert "works well" in capsys.readouterr().out


def test_what_holds_where_nobody_says_is_what_was_said() -> None:
    with fresh():
        write()
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        weight = fluid.global_scope().find_var("fc_0.w_0")
        assert weight is not None
        np.testing.assert_array_equal(np.array(weight.get_tensor()), np.full((3, 1), 2.0))
