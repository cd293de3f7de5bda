"""Names that programs have from modules of fluid 1.8 which other names came out of, and what they do."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers


@pytest.mark.parametrize(
    "name",
    [
        *("fluid.framework.unique_name", "fluid.optimizer.layers", "fluid.layers.control_flow.core"),
        *("fluid.regularizer.framework", "fluid.layers.nn.unique_name", "fluid.backward.unique_name"),
        *("fluid.incubate.data_generator", "fluid.incubate.fleet.base.mode.Mode", "fluid.log_helper"),
        *("fluid.contrib.mixed_precision.decorator", "fluid.layer_helper_base", "fluid.wrapped_decorator"),
        *("fluid.clip.ClipByValue", "fluid.clip.ClipByNorm", "fluid.clip.ClipByGlobalNorm"),
        "fluid.contrib.layers.index_sample",
        "fluid.contrib.reader.distributed_reader.distributed_batch_reader",
        "fluid.contrib.extend_optimizer.extend_optimizer_with_weight_decay.DecoupledWeightDecay",
        "fluid.incubate.fleet.parameter_server.version.is_transpiler",
        *("fluid.transpiler.details.checkport.wait_server_ready", "fluid.proto.framework_pb2.ProgramDesc"),
    ],
)
def test_modules_are_found_where_upstreams_are(name: str) -> None:
    module, _, leaf = f"paddle.{name}".rpartition(".")
    assert getattr(importlib.import_module(module), leaf) is not None


def test_parameters_are_made_of_a_shape_and_a_dtype() -> None:
    block = fluid.Program().global_block()
    with fluid.unique_name.guard():
        made = fluid.framework.Parameter(block, [2, 3], "float32")
    assert (made.name, made.shape, made.dtype, made.persistable) == ("_generated_var_0", (2, 3), 5, True)


def test_names_are_counted_by_a_generator_that_programs_may_change() -> None:
    with fluid.unique_name.guard():
        assert fluid.unique_name.generate("a") == "a_0"
        assert fluid.unique_name.generator.ids == {"a": 1}
        pair = fluid.unique_name.switch()
        assert fluid.unique_name.generate_with_ignorable_key("a") == "a_0"
        before, checker = pair
        assert (before.ids, checker) == ({"a": 1}, None)
        fluid.unique_name.switch(pair)
        assert fluid.unique_name.generate("a") == "a_1"


def test_what_transpilers_ask_of_operators_is_known() -> None:
    core = fluid.core
    assert core.ParallelExecutor.ExecutionStrategy is fluid.ExecutionStrategy
    assert core.ParallelExecutor.BuildStrategy is fluid.BuildStrategy
    maker = core.op_proto_and_checker_maker
    fluid.optimizer.SGD(0.1).minimize(layers.mean(layers.fc(fluid.data("x", [None, 2]), 1)))
    roles = [op.attr(maker.kOpRoleAttrName()) for op in fluid.default_main_program().global_block().ops]
    assert roles[0] == int(maker.OpRole.Forward) and roles[-1] == int(maker.OpRole.Optimize)
    assert (core.AttrType.BOOL, core.AttrType.LONGS, core.kGradVarSuffix) == (6, 11, "@GRAD")


def test_a_regularizer_of_ones_own_adds_what_it_says() -> None:
    class Half(fluid.regularizer.WeightDecayRegularizer):
        def __call__(self, param: Any, grad: Any, block: Any) -> Any:
            made = block.create_var(dtype=param.dtype, shape=param.shape)
            block.append_op("scale", {"X": [param]}, {"Out": [made]}, {"scale": 0.5})
            return made

    learned = []
    for each in (Half(), fluid.regularizer.L2Decay(0.5)):
        main, startup = fluid.Program(), fluid.Program()
        startup.random_seed = 3
        with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            loss = layers.mean(layers.fc(fluid.data("x", [None, 2]), 1))
            fluid.optimizer.SGD(0.1, regularization=each).minimize(loss)
            exe = fluid.Executor()
            exe.run(startup)
            exe.run(main, feed={"x": np.ones((1, 2), "float32")})
            learned.append(np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor()))
    np.testing.assert_array_equal(*learned)
    with pytest.raises(NotImplementedError, match="define __call__"):
        fluid.regularizer.WeightDecayRegularizer()(None, None, None)


def test_feeds_and_fetches_are_written_into_a_program_that_runs() -> None:
    x = fluid.data("x", [None, 2])
    y = layers.scale(x, 2.0)
    main = fluid.default_main_program()
    fluid.io.prepend_feed_ops(main, ["x"])
    fluid.io.append_fetch_ops(main, [y.name])
    assert [op.type for op in main.global_block().ops] == ["feed", "scale", "fetch"]
    (found,) = fluid.Executor().run(main, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])
    np.testing.assert_array_equal(found, [[2.0, 2.0]])


def test_messages_of_programs_are_read_by_the_originals_names() -> None:
    layers.fc(fluid.data("x", [None, 2]), 3)
    pb2 = importlib.import_module("paddle.fluid.proto.framework_pb2")
    desc = pb2.ProgramDesc()
    desc.ParseFromString(fluid.default_main_program().desc.serialize_to_string())
    (block,) = desc.blocks
    assert [op.type for op in block.ops] == ["mul", "elementwise_add"]
    kinds = {each.name: each.type.type for each in block.vars}
    assert kinds["fc_0.w_0"] == pb2.VarType.LOD_TENSOR and pb2.VarType.FP32 == 5
    told = {each.name: each.type for each in block.ops[0].attrs}
    assert told["x_num_col_dims"] == pb2.INT
    assert fluid.Program.parse_from_string(desc.SerializeToString()).num_blocks == 1


def test_values_of_files_are_read_by_themselves_and_within_a_program(tmp_path: Path) -> None:
    utils = importlib.import_module("paddle.fluid.incubate.fleet.utils.utils")
    value, path = np.arange(6, dtype="float32").reshape(2, 3), str(tmp_path / "w")
    utils.save_var(value, "w", [3], "float32", path)
    (found,) = utils.load_var("w", [3], "float32", path)
    np.testing.assert_array_equal(found, value)
    made = layers.create_tensor("float32", name="w")
    layers.load(made, path)
    (found,) = fluid.Executor().run(fetch_list=[made])
    np.testing.assert_array_equal(found, value)


def test_saved_programs_are_looked_through(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    utils = importlib.import_module("paddle.fluid.incubate.fleet.utils.utils")
    y = layers.fc(fluid.data("x", [None, 2]), 3)
    main, exe = fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], exe)
    program = utils.load_program(str(tmp_path / "__model__"))
    assert utils.check_pruned_program_vars(main, program)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        layers.fc(fluid.data("x", [None, 2]), 4)
        assert not utils.check_pruned_program_vars(fluid.default_main_program(), program)
    assert "'fc_0.w_0' is (2, 3)" in caplog.text
    assert utils.program_type_trans(str(tmp_path), "__model__", False) == "__model__.pbtxt"
    assert "mul" in (tmp_path / "__model__.pbtxt").read_text()
    utils.parse_program(program, str(tmp_path))
    assert "'name': 'fc_0.w_0'" in (tmp_path / "vars_persistable.log").read_text()
    assert "elementwise_add" in (tmp_path / "ops.log").read_text()
    utils.save_program(program, str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "__model__").read_bytes()
    with pytest.raises(NotImplementedError, match="programs are read from bytes"):
        utils.load_program("any", is_text=True)


def test_files_of_numbers_are_batches(tmp_path: Path) -> None:
    utils = importlib.import_module("paddle.fluid.incubate.fleet.utils.utils")
    (tmp_path / "numbers").write_text("1 2 3 4 5 6 7 8 9\n1 2 3 4\n")
    (batches,) = utils.feed_gen(2, [[2]], [str(tmp_path / "numbers")])
    assert [each.tolist() for each in batches] == [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 2], [3, 4]]]


def test_rows_are_parted_and_brought_together() -> None:
    x, mask = fluid.data("x", [None, 1]), fluid.data("mask", [None, 1], "bool")
    yes, no = layers.split_lod_tensor(x, mask)
    both = layers.merge_lod_tensor(yes * 2.0, no * 3.0, x, mask)
    feed: Any = {"x": np.array([[1], [2], [3]], "float32"), "mask": np.array([[True], [False], [True]])}
    found = fluid.Executor().run(feed=feed, fetch_list=[yes, no, both])
    assert [np.array(each).reshape(-1).tolist() for each in found] == [[1, 3], [2], [2, 6, 6]]


def test_operators_are_found_by_what_they_read_and_write() -> None:
    details = importlib.import_module("paddle.fluid.transpiler.details.program_utils")
    x = fluid.data("x", [None, 1])
    layers.assign(layers.scale(x, 2.0), output=(y := layers.scale(x, 3.0)))
    block = fluid.default_main_program().global_block()
    assert details.find_op_by_input_arg(block, "x") == 0
    assert details.find_op_by_output_arg(block, y.name) == 1
    assert details.find_op_by_output_arg(block, y.name, reverse=True) == 2
    assert details.find_op_by_input_arg(block, "none") == -1
    details.delete_ops(block, block.ops[1:2])
    assert [op.type for op in block.ops] == ["scale", "assign"]


def test_what_trains_together_otherwise_is_told_where_it_is_called() -> None:
    collective = importlib.import_module("paddle.fluid.layers.collective")
    with pytest.raises(NotImplementedError, match=r"by parameter servers \(fluid\.incubate\.fleet\)"):
        collective._c_allreduce(None)


def test_an_optimizer_that_computes_again_loads_nothing_as_in_1_8() -> None:
    made = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    with pytest.raises(NotImplementedError, match=r"fluid\.io\.load_persistables"):
        made.load({})


def test_a_program_is_printed_a_line_for_each_operator(capsys: pytest.CaptureFixture[str]) -> None:
    details = importlib.import_module("paddle.fluid.transpiler.details.program_utils")
    x = fluid.data("x", [None, 1])
    layers.scale(x, 2.0)
    program = fluid.default_main_program()
    line = details.op_to_code(program.global_block().ops[0])
    assert line.startswith("{Out=['scale_0.tmp_0']} = scale(inputs={X=['x']}")
    assert details.variable_to_code(x).startswith("var x : LOD_TENSOR")
    details.program_to_code(program)
    assert f"    {line}\n" in capsys.readouterr().out


def test_parts_of_launchers_are_refused_with_what_there_is_instead() -> None:
    with pytest.raises(ImportError, match=r"LocalFS and HDFSClient of paddle\.distributed\.fleet\.utils\.fs"):
        importlib.import_module("paddle.distributed.fs_wrapper")
    launcher = importlib.import_module("paddle.distributed.launch_ps")
    with pytest.raises(AttributeError, match=r"python -m paddle\.distributed\.launch_ps, or call launch\(\)"):
        launcher.start_procs(None)


@pytest.mark.parametrize(
    "wrap", [fluid.optimizer.LookaheadOptimizer, fluid.contrib.mixed_precision.decorate, lambda one: one]
)
def test_who_wraps_an_optimizer_is_told_at_its_own_line(wrap: Any) -> None:
    loss = layers.mean(fluid.data("x", [None, 1]))
    with pytest.warns(UserWarning, match="nothing will be learned") as told:
        wrap(fluid.optimizer.SGD(0.1)).minimize(loss)
    assert {each.filename for each in told if each.category is UserWarning} == {__file__}
