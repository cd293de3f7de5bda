"""``variable.desc``, ``operator.desc`` and ``block.desc``: what programs ask there by calls."""

import pytest

import paddle.fluid as fluid
from paddle.fluid.core import VarDesc


def test_what_programs_ask_of_a_variable_they_ask_by_calls() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.layers.data("x", [4], lod_level=1)
        hidden = fluid.layers.fc(x, 2, param_attr="w")
        weight = x.block.var("w")
    desc = x.desc
    assert (desc.name(), desc.type(), desc.shape()) == ("x", VarDesc.VarType.LOD_TENSOR, [-1, 4])
    assert (desc.dtype(), desc.lod_level(), desc.persistable()) == (VarDesc.VarType.FP32, 1, False)
    assert weight.desc.persistable() and weight.desc.is_parameter()
    assert x.desc == desc != hidden.desc and len({x.desc, desc}) == 1
    before = x.block.program._version
    desc.set_shape([-1, 5])
    desc.set_persistable(True)
    desc.set_dtype(VarDesc.VarType.INT64)
    assert (x.shape, x.persistable, x.dtype) == ((-1, 5), True, VarDesc.VarType.INT64)
    assert x.block.program._version != before
    with pytest.raises(AttributeError, match="nothing"):
        _ = desc.nothing


def test_what_programs_ask_of_an_operator_and_a_block_they_ask_by_calls() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        fluid.layers.fc(fluid.layers.data("x", [4]), 2, param_attr="w")
        block = fluid.default_main_program().global_block()
    found = [block.desc.op(index) for index in range(block.desc.op_size())]
    assert [each.type() for each in found] == ["mul", "elementwise_add"]
    product = found[0]
    assert (product.input("X"), product.input_arg_names(), product.input_names()) == (
        ["x"],
        ["x", "w"],
        ["X", "Y"],
    )
    assert product.attr("x_num_col_dims") == 1 and "x_num_col_dims" in product.attr_names()
    product.set_input("X", ["y"])
    product.remove_attr("x_num_col_dims")
    assert block.ops[0].input("X") == ["y"] and not block.ops[0].has_attr("x_num_col_dims")
    weight = block.desc.find_var(b"w")
    assert weight is not None and weight.name() == "w" and block.desc.find_var("none") is None


def test_a_variable_is_printed_as_its_message_is() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.data("x", [None, 3])
    printed = str(x)
    assert printed.startswith('name: "x"\ntype {\n  type: LOD_TENSOR\n') and printed.endswith("\n")
    assert printed in "\n".join(line[4:] for line in str(x.block.program).splitlines()) + "\n"
    assert repr(x) == "var x : LOD_TENSOR, shape[-1, 3], dtype FP32, lod_level 0, stop_gradient, is_data"
    assert f"    {x!r}\n" in str(x.block)
