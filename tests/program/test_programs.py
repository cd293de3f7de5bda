"""Programs as descriptions: what they show, and what copies of them are."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description import unique_name
from paddle._program.description.dtypes import VarType, dtype_of
from paddle._program.description.guards import name_scope, program_guard
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.running.executor import Executor
from paddle._program.running.scope import Scope
from paddle._program.writing.backward import gradients


def _data(program: Program, name: str, *shape: int) -> Variable:
    block = program.global_block()
    return block.create_var(name, shape=shape, dtype="float32", stop_gradient=True, is_data=True)


def _scaled(program: Program, x: Variable, scale: float, out: str) -> Variable:
    block = program.global_block()
    made = block.create_var(out, dtype="float32")
    block.append_op("scale", inputs={"X": [x]}, outputs={"Out": [made]}, attrs={"scale": scale})
    return made


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype("float32"), 5, VarType.FP32])
def test_a_dtype_is_named_in_many_ways(given: object) -> None:
    assert dtype_of(given) is VarType.FP32


def test_an_operator_shows_its_slots_attributes_and_line() -> None:
    program = Program()
    _scaled(program, _data(program, "x", -1, 2), 3.0, "y")
    (op,) = program.global_block().ops
    assert (op.type, op.input("X"), op.output("Out")) == ("scale", ["x"], ["y"])
    assert op.attr("scale") == 3.0
    assert op.attr("bias") == 0.0
    assert "test_programs.py:" in op.where


def test_what_an_operator_gives_is_inferred() -> None:
    program = Program()
    out = _scaled(program, _data(program, "x", -1, 2), 3.0, "y")
    assert (out.shape, out.dtype, out.lod_level) == ((-1, 2), VarType.FP32, 0)


def test_a_name_written_twice_is_what_was_written_last() -> None:
    program = Program()
    x = _data(program, "x", 2)
    y = _scaled(program, x, 3.0, "y")
    _scaled(program, y, 2.0, "y")
    fed = {"x": np.array([1, 2], np.float32)}
    (found,) = Executor().run(program, feed=fed, fetch_list=["y"], scope=Scope())
    assert found.tolist() == [6.0, 12.0]


def test_a_gradient_of_what_is_no_parameter_is_taken_where_it_is_asked_for() -> None:
    program = Program()
    x = _data(program, "x", 2)
    y = _scaled(program, x, 3.0, "y")
    (gradient,) = gradients(y, x)
    assert gradient is not None
    fed = {"x": np.array([1, 2], np.float32)}
    (found,) = Executor().run(program, feed=fed, fetch_list=[gradient], scope=Scope())
    assert found.tolist() == [3.0, 3.0]


def test_no_gradient_goes_through_what_stops_it() -> None:
    program = Program()
    x = _data(program, "x", 2)
    y = _scaled(program, x, 3.0, "y")
    y.stop_gradient = True
    z = _scaled(program, y, 2.0, "z")
    assert gradients(z, x) == [None]


def test_a_copy_is_not_touched_by_later_changes() -> None:
    program = Program()
    x = _data(program, "x", 2)
    _scaled(program, x, 3.0, "y")
    twin = program.clone()
    _scaled(program, x, 2.0, "z")
    assert [op.type for op in twin.global_block().ops] == ["scale"]
    assert not twin.global_block().has_var("z")


def test_a_variable_of_another_program_is_declared_anew_and_has_the_value_of_both() -> None:
    """Programs that copy one network's parameters into another's are written so."""
    trained, copies = Program(), Program()
    block = trained.global_block()
    parameter = block.create_parameter("w", [2], "float32")
    other = block.create_var("other", shape=[-1, 2], dtype="int64", lod_level=1)
    twin = copies.global_block()._clone_variable(parameter)
    assert (twin.name, twin.shape, twin.persistable) == ("w", (2,), True)
    assert copies.global_block().all_parameters() == []
    kept = copies.global_block()._clone_variable(other, force_persistable=False)
    assert (kept.shape, kept.dtype, kept.lod_level, kept.persistable) == ((-1, 2), VarType.INT64, 1, False)
    scope = Scope()
    scope.var("w").get_tensor().set(np.array([1, 2], np.float32))
    block = copies.global_block()
    block.append_op("scale", {"X": [twin]}, {"Out": [twin]}, {"scale": 2.0})
    Executor().run(copies, scope=scope)
    assert np.array(scope.find_var("w").get_tensor()).tolist() == [2.0, 4.0]


def test_a_pruned_program_has_what_its_targets_need() -> None:
    program = Program()
    x = _data(program, "x", 2)
    y = _scaled(program, x, 3.0, "y")
    _scaled(program, y, 2.0, "z")
    assert [op.output("Out") for op in program._prune([y]).global_block().ops] == [["y"]]


def test_names_begin_anew_within_a_guard() -> None:
    with unique_name.guard():
        assert [unique_name.generate("fc"), unique_name.generate("fc")] == ["fc_0", "fc_1"]
        with unique_name.guard("net/"):
            assert unique_name.generate("fc") == "net/fc_0"
        assert unique_name.generate("fc") == "fc_2"


def test_an_operator_that_is_not_built_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="'warp_drive' is not in this release"):
        Program().global_block().append_op("warp_drive")


def test_operators_of_a_name_scope_say_so_and_others_do_not() -> None:
    program = Program()
    x = _data(program, "x", 2)
    with program_guard(program), name_scope("outer"), name_scope("inner"):
        _scaled(program, x, 2.0, "y")
    _scaled(program, x, 2.0, "z")
    within, beside = program.global_block().ops
    assert within.attr("op_namescope") == "/outer/inner/"
    assert not beside.has_attr("op_namescope")


def test_a_second_scope_of_one_name_is_counted_where_it_stands() -> None:
    program = Program()
    x = _data(program, "x", 2)
    with program_guard(program):
        with name_scope("s1"):
            _scaled(program, x, 2.0, "a")
            with name_scope("s2"):
                _scaled(program, x, 2.0, "b")
        with name_scope("s1"):
            _scaled(program, x, 2.0, "c")
            with name_scope("s2"):
                _scaled(program, x, 2.0, "d")
        with name_scope("s1"):
            _scaled(program, x, 2.0, "e")
    told = [op.attr("op_namescope") for op in program.global_block().ops]
    assert told == ["/s1/", "/s1/s2/", "/s1_1/", "/s1_1/s2/", "/s1_2/"]


def test_a_global_seed_is_of_the_program_and_of_later_ones() -> None:
    before, program = Program(), Program()
    program.global_seed(102)
    assert [each.random_seed for each in (before, program, Program())] == [0, 102, 102]


def test_rows_that_nothing_describes_may_be_written_about() -> None:
    program = Program()
    with program_guard(program, Program()):
        rows = program.global_block().create_var("X", persistable=True, type=VarType.SELECTED_ROWS)
        out = fluid.layers.get_tensor_from_selected_rows(fluid.layers.merge_selected_rows(rows))
    types = [each.type for each in program.global_block().ops]
    assert types == ["merge_selected_rows", "get_tensor_from_selected_rows"]
    assert out.name == "get_tensor_from_selected_rows_0.tmp_0"
