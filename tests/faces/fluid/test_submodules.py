"""Submodules of fluid that programs import from: they are there, or say what there is instead."""

from __future__ import annotations

import importlib

import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.errors import BadArgument
from paddle.fluid.layers import utils

THERE = """
    layers.device:get_places layers.nn:fc layers.control_flow:While layers.io:data
    layers.learning_rate_scheduler:noam_decay layers.tensor:concat layers.utils:map_structure
    framework:Program executor:global_scope core:LoDTensor layer_helper_base:LayerHelperBase
    data_feeder:check_variable_and_dtype data_feeder:convert_dtype
    transpiler.memory_optimization_transpiler:memory_optimize
    transpiler.inference_transpiler:InferenceTranspiler contrib:ctr_metric_bundle
    wrapped_decorator:signature_safe_contextmanager log_helper:get_logger framework:ZERO_VAR_SUFFIX
    contrib.layers.nn:sparse_embedding contrib.layers.metric_op:ctr_metric_bundle contrib:StateCell
    contrib.decoder:BeamSearchDecoder contrib.layers:rnn_impl
    layers:core framework:core layer_helper:in_dygraph_mode layers.distributions:Normal
    incubate.fleet.parameter_server.distribute_transpiler:StrategyFactory
    incubate.fleet.parameter_server.distribute_transpiler:DistributedStrategy
    incubate.fleet.parameter_server.distribute_transpiler:TrainerRuntimeConfig
""".split()  # noqa: SIM905  read in columns
ABSENT = """
    concurrency data_generator dataloader default_scope_funcs distributed generator
    trainer_factory layers.math_op_patch contrib.slim
""".split()  # noqa: SIM905  read in columns


@pytest.mark.parametrize("each", THERE)
def test_names_are_found_in_their_modules(each: str) -> None:
    module, name = each.split(":")
    assert getattr(importlib.import_module(f"paddle.fluid.{module}"), name) is not None


@pytest.mark.parametrize("module", ABSENT)
def test_modules_that_are_not_built_say_so(module: str) -> None:
    with pytest.raises(ImportError, match=f"paddle.fluid.{module} is not in this release: "):
        importlib.import_module(f"paddle.fluid.{module}")


def test_states_are_found_in_fluid_itself() -> None:
    assert fluid.load_program_state is fluid.io.load_program_state
    assert fluid.set_program_state is fluid.io.set_program_state


def test_who_turns_eager_mode_off_has_static_programs_as_before() -> None:
    turn_back = paddle.disable_static if paddle.in_dynamic_mode() else paddle.enable_static
    paddle.disable_static()
    try:
        fluid.disable_dygraph()
        assert not paddle.in_dynamic_mode()
        assert fluid.disable_imperative is fluid.disable_dygraph
        assert isinstance(paddle.static.data("words", [None, 1], "int64"), fluid.framework.Variable)
    finally:
        turn_back()


def test_places_are_found_in_framework_of_2_x() -> None:
    assert paddle.framework.CPUPlace is fluid.CPUPlace
    assert paddle.framework.CUDAPlace is fluid.CUDAPlace


def test_checks_of_layers_are_what_layers_of_2_x_import() -> None:
    shared = importlib.import_module("paddle.common_ops_import")
    assert shared.check_type is fluid.data_feeder.check_type
    with pytest.raises(BadArgument, match="one_hot: depth is "):
        shared.check_type("3", "depth", int, "one_hot")


def test_decorated_functions_keep_their_names_and_loggers_their_handler() -> None:
    from paddle.fluid.log_helper import get_logger
    from paddle.fluid.wrapped_decorator import wrap_decorator

    doubled = wrap_decorator(lambda function: lambda *given: 2 * function(*given))
    assert (doubled(max)(1, 3), doubled(max).__name__) == (6, "max")
    made = get_logger("a logger of a test", 20, fmt="%(message)s")
    assert get_logger("a logger of a test", 30) is made
    assert (made.level, len(made.handlers), made.propagate) == (30, 1, False)
    assert fluid.framework.dtype_is_floating("float64")
    assert not fluid.framework.dtype_is_floating(fluid.core.VarDesc.VarType.INT64)


def test_names_of_contrib_layers_say_so_at_contrib() -> None:
    with pytest.raises(AttributeError, match="tree_conv is not in this release"):
        _ = fluid.contrib.tree_conv


def test_nested_structures_are_walked_in_one_order() -> None:
    nest = {"b": [1, (2, 3)], "a": 4}
    assert utils.flatten(nest) == [4, 1, 2, 3]
    assert utils.map_structure(lambda one, other: one + other, nest, nest) == {"b": [2, (4, 6)], "a": 8}
    assert utils.pack_sequence_as([0, (0, [0])], "xyz") == ["x", ("y", ["z"])]
    with pytest.raises(ValueError, match="place for 2 items, and 3 are given"):
        utils.pack_sequence_as([0, 0], [1, 2, 3])


def test_structures_are_compared() -> None:
    utils.assert_same_structure([1, (2,)], [3, (4,)])
    with pytest.raises(TypeError, match="is a tuple"):
        utils.assert_same_structure([1, (2,)], [3, [4]])
    utils.assert_same_structure([1, (2,)], [3, [4]], check_types=False)
    with pytest.raises(ValueError, match="has 2 items"):
        utils.assert_same_structure([1, 2], [3])


def test_numbers_are_spread() -> None:
    assert utils.convert_to_list(3, 2, "stride") == [3, 3]
    assert utils.convert_to_list((1, 2), 2, "stride") == [1, 2]
    with pytest.raises(ValueError, match="stride is one int or 2 of them"):
        utils.convert_to_list([1, 2, 3], 2, "stride")


def test_arguments_of_layers_of_ones_own_are_checked() -> None:
    x = fluid.layers.data("x", [3])
    fluid.data_feeder.check_variable_and_dtype(x, "x", ["float32", "float64"], "mine")
    assert fluid.data_feeder.convert_dtype(x.dtype) == "float32"
    with pytest.raises(TypeError, match="mine: x is of int64, and not of float32"):
        fluid.data_feeder.check_variable_and_dtype(x, "x", ["int64"], "mine")
    with pytest.raises(TypeError, match=r"mine: x is .*Variable.*, and not int"):
        fluid.data_feeder.check_variable_and_dtype(3, "x", ["int64"], "mine")


@pytest.mark.parametrize(
    ("module", "name", "instead"),
    [
        ("framework", "IrGraph", "Block.append_op"),
        ("framework", "ComplexVariable", "numbers are real"),
        ("framework", "load_op_library", "py_func"),
        ("debugger", "repr_tensor", "repr_var and repr_op"),
        ("debugger", "run_fast_nan_inf_debug", "isfinite"),
        ("reader", "DataLoaderBase", "PyReader"),
        ("contrib", "sparsity", "minimize with the optimizer itself"),
        ("contrib", "load_persistables_for_increment", "load_persistables"),
        ("transpiler", "GeoSgdTranspiler", "geo_sgd_mode"),
    ],
)
def test_names_that_are_not_built_say_what_there_is_instead(module: str, name: str, instead: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{name} is not in this release: .*{instead}"):
        getattr(importlib.import_module(f"paddle.fluid.{module}"), name)


def test_what_is_deprecated_says_so_and_works(capsys: pytest.CaptureFixture[str]) -> None:
    from paddle.fluid.annotations import deprecated

    @deprecated(since="1.7", instead="fluid.data", extra_message="It checks feeds.")
    def old(x: int) -> int:
        """Twice as much."""
        return 2 * x

    assert (old(3), old.__name__) == (6, "old")
    assert capsys.readouterr().err == "old is deprecated since 1.7: use fluid.data. It checks feeds.\n"
    assert old.__doc__ is not None and old.__doc__.startswith("Twice") and "fluid.data" in old.__doc__


def test_programs_ask_where_they_are() -> None:
    framework = fluid.framework
    assert isinstance(framework._current_expected_place(), fluid.CPUPlace)
    assert (framework._cpu_num(), framework._dygraph_tracer()) == (1, None)
    x = fluid.data("x", [2])
    assert framework._get_var("x") is x


def test_the_debugger_shows_gradients_where_one_asks_for_them() -> None:
    from paddle.fluid import debugger

    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [-1, 4]), 3))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    program = fluid.default_main_program()
    forward = debugger.pprint_program_codes(program)
    assert "mul(" in forward and "@GRAD" not in forward and "momentum(" not in forward
    assert "mul_grad(" in debugger.pprint_block_codes(program.global_block(), show_backward=True)
    assert "var x : LOD_TENSOR" in debugger.repr_var(program.global_block().var("x"))
    assert debugger.repr_op(program.global_block().ops[0]).startswith("{Out=")
    assert debugger.repr_data_type(5) == "FP32"


def test_what_optimizers_remember_is_told_from_parameters() -> None:
    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [-1, 4]), 3))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    found = {
        each.name
        for each in fluid.default_main_program().list_vars()
        if fluid.io.is_belong_to_optimizer(each)
    }
    assert found == {"fc_0.w_0_velocity_0", "fc_0.b_0_velocity_0", "learning_rate_0"}
