"""Programs that are compiled, run by several devices, measured by evaluators and looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument
from paddle.fluid.contrib.memory_usage_calc import memory_usage
from paddle.fluid.contrib.op_frequence import op_freq_statistic

X = np.arange(8, dtype=np.float32).reshape(4, 2) / 10


def _loss() -> fluid.Variable:
    x = fluid.layers.data(name="x", shape=[2], dtype="float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    return loss


def _begun() -> fluid.Executor:
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    return exe


def test_who_wants_gradients_summed_over_places_is_told_that_there_is_one_batch(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    summed, loss = fluid.BuildStrategy(), _loss()
    summed.gradient_scale_strategy = fluid.BuildStrategy.GradientScaleStrategy.One

    def told(*, places: str) -> list[str]:
        monkeypatch.setenv("CPU_NUM", places)
        program = fluid.CompiledProgram(fluid.default_main_program())
        program.with_data_parallel(loss_name=loss.name, build_strategy=summed)
        fluid.ParallelExecutor(loss_name=loss.name, build_strategy=summed)
        return [each.filename for each in recwarn if "multiply the loss by 2" in str(each.message)]

    assert told(places="1") == []
    assert told(places="2") == [__file__] * 2
    one = fluid.CompiledProgram(fluid.default_main_program())
    one.with_data_parallel(loss_name=loss.name, build_strategy=summed, places=fluid.CPUPlace())
    (found,) = _begun().run(one, feed={"x": X}, fetch_list=[loss])
    assert found.shape == (1,) and told(places="1") == [__file__] * 2


def test_a_compiled_program_and_a_batch_in_parts_give_what_a_program_gives() -> None:
    loss = _loss()
    exe = _begun()
    program = fluid.default_main_program().clone(for_test=True)
    (expected,) = exe.run(program, feed={"x": X}, fetch_list=[loss])
    options = fluid.BuildStrategy()
    options.reduce_strategy = fluid.BuildStrategy.ReduceStrategy.Reduce
    how = fluid.ExecutionStrategy()
    how.num_threads = 4
    compiled = fluid.CompiledProgram(program).with_data_parallel(
        loss_name=loss.name, build_strategy=options, exec_strategy=how
    )
    (found,) = exe.run(compiled, feed={"x": X}, fetch_list=[loss])
    np.testing.assert_array_equal(found, expected)
    (parts,) = exe.run(compiled, feed=[{"x": X[:1]}, {"x": X[1:]}], fetch_list=[loss.name])
    np.testing.assert_array_equal(parts, expected)
    with pytest.raises(ValueError, match="called already"):
        compiled.with_data_parallel()
    with pytest.raises(ValueError, match="takes a Program"):
        fluid.CompiledProgram("main")
    with pytest.raises(BadArgument, match="takes a NativeConfig or an AnalysisConfig, not NoneType"):
        compiled.with_inference_optimize(None)


def test_a_parallel_executor_trains_and_another_tests_what_it_trained() -> None:
    loss = _loss()
    test = fluid.default_main_program().clone(for_test=True)
    _begun()
    trains = fluid.ParallelExecutor(use_cuda=fluid.core.is_compiled_with_cuda(), loss_name=loss.name)
    tests = fluid.ParallelExecutor(False, main_program=test, share_vars_from=trains)
    assert trains.device_count == 1
    (first,) = trains.run([loss.name], feed={"x": X})
    trains.run(fetch_list=[loss], feed_dict={"x": X})
    (later,) = tests.run(fetch_list=[loss.name], feed=[{"x": X[:2]}, {"x": X[2:]}])
    assert np.array(later)[0] < np.array(first)[0]
    with pytest.raises(NotInThisRelease, match="computes on CPUs"):
        fluid.ParallelExecutor(use_cuda=True)


def test_parts_that_do_not_belong_together_are_refused() -> None:
    loss = _loss()
    exe = _begun()
    with pytest.raises(ValueError, match="have the same names"):
        exe.run(feed=[{"x": X}, {"y": X}], fetch_list=[loss])
    with pytest.raises(ValueError, match="the parts of 'x' in the feed do not follow"):
        exe.run(feed=[{"x": X}, {"x": X[:, :1]}], fetch_list=[loss])


def test_a_parameter_that_each_place_is_given_is_there_once() -> None:
    x = fluid.layers.data(name="x", shape=[2], dtype="float32")
    table = fluid.layers.create_parameter([2, 1], "float32", name="table")
    total = fluid.layers.matmul(x, table)
    exe = _begun()
    given = np.array([[2], [3]], np.float32)  # as the Transformer of the models gives its positions
    feed = [{"x": X[:1], "table": given}, {"x": X[1:], "table": given}]
    np.testing.assert_allclose(exe.run(feed=feed, fetch_list=[total])[0], X @ given)
    np.testing.assert_array_equal(fluid.global_scope().find_var("table").get_tensor(), given)


def test_sequences_of_parts_follow_each_other() -> None:
    from paddle._program.running.parts import joined

    one = fluid.create_lod_tensor(np.array([[1], [2], [3]]), [[1, 2]], fluid.CPUPlace())
    other = fluid.create_lod_tensor(np.array([[4], [5]]), [[2]], fluid.CPUPlace())
    both = joined([{"ids": one}, {"ids": other}], lambda name: None)["ids"]
    assert both.recursive_sequence_lengths() == [[1, 2, 2]]
    assert np.array(both).reshape(-1).tolist() == [1, 2, 3, 4, 5]


def test_an_option_that_upstream_does_not_have_is_named() -> None:
    with pytest.raises(
        AttributeError, match="BuildStrategy has no option 'reduce_stategy'; it has reduce_str"
    ):
        fluid.BuildStrategy().reduce_stategy = 1
    assert fluid.ExecutionStrategy().num_iteration_per_drop_scope == 100


def test_a_device_that_is_not_here_is_refused_when_something_is_to_run_there() -> None:
    _loss()
    exe = fluid.Executor(fluid.CUDAPlace(0))
    with pytest.raises(NotInThisRelease, match=r"nothing is computed on CUDAPlace\(0\)"):
        exe.run(fluid.default_startup_program())
    assert not fluid.core.is_compiled_with_cuda()
    assert fluid.core.get_cuda_device_count() == 0


def test_places_are_as_many_as_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPU_NUM", "3")
    assert fluid.cpu_places() == [fluid.CPUPlace()] * 3
    assert fluid.cuda_places([0, 1]) == [fluid.CUDAPlace(0), fluid.CUDAPlace(1)]
    with pytest.raises(NotInThisRelease, match="finds no GPU"):
        fluid.cuda_places()
    monkeypatch.setenv("CPU_NUM", "many")
    with pytest.raises(ValueError, match="CPU_NUM is 'many'"):
        fluid.cpu_places()


def test_an_evaluator_adds_up_in_the_program() -> None:
    said = fluid.layers.data(name="said", shape=[1], dtype="int64", lod_level=1)
    right = fluid.layers.data(name="right", shape=[1], dtype="int64", lod_level=1)
    chunks = fluid.evaluator.ChunkEvaluator(said, right, "IOB", 2)
    exe = _begun()
    one = fluid.create_lod_tensor(np.array([[0], [1], [2], [4]]), [[4]], fluid.CPUPlace())
    other = fluid.create_lod_tensor(np.array([[0], [1], [4], [2]]), [[4]], fluid.CPUPlace())
    chunks.reset(exe)
    for _ in range(2):
        exe.run(feed={"said": one, "right": other}, fetch_list=chunks.metrics)
    assert [float(each[0]) for each in chunks.eval(exe)] == [0.5, 0.5, 0.5]
    chunks.reset(exe)
    assert [float(each[0]) for each in chunks.eval(exe)] == [0.0, 0.0, 0.0]


def test_a_distance_is_added_up_too() -> None:
    said = fluid.layers.data(name="said", shape=[1], dtype="int64", lod_level=1)
    right = fluid.layers.data(name="right", shape=[1], dtype="int64", lod_level=1)
    distance = fluid.evaluator.EditDistance(said, right)
    exe = _begun()
    one = fluid.create_lod_tensor(np.array([[1], [2], [3]]), [[2, 1]], fluid.CPUPlace())
    other = fluid.create_lod_tensor(np.array([[1], [2], [4]]), [[2, 1]], fluid.CPUPlace())
    for _ in range(2):
        found = exe.run(feed={"said": one, "right": other}, fetch_list=distance.metrics)
        assert [each.item() for each in found] == [1.0, 1.0]
    mean, wrong = distance.eval(exe)
    assert wrong[0] == 0.5
    assert mean[0] > 0


def test_what_a_program_is_made_of(tmp_path: Path) -> None:
    _loss()
    program = fluid.default_main_program()
    path = tmp_path / "block.dot"
    fluid.debugger.draw_block_graphviz(program.global_block(), highlights=["x"], path=str(path))
    graph = path.read_text()
    assert 'label="mul", shape=box' in graph
    assert 'label="x", shape=ellipse, style=filled, fillcolor=orange' in graph
    assert "var fc_0.w_0" in fluid.debugger.pprint_program_codes(program)
    least, most, unit = memory_usage(program, batch_size=4)
    assert (0 < least < most, unit) == (True, "B")
    single, pairs = op_freq_statistic(program)
    assert single["mul"] == 1
    assert pairs["mul->elementwise_add"] == 1


def test_an_installation_checks_itself(capsys: pytest.CaptureFixture[str]) -> None:
    fluid.install_check.run_check()
    assert "installed successfully" in capsys.readouterr().out
    assert not fluid.default_main_program().global_block().ops


def test_programs_find_what_they_take_from_upstreams_tests() -> None:
    from paddle.fluid.tests.unittests.op_test import convert_uint16_to_float

    halves = np.array([[0x3F80, 0xC020]], np.uint16)
    np.testing.assert_array_equal(convert_uint16_to_float(halves), np.array([[1.0, -2.5]], np.float32))
    with pytest.raises(ImportError, match="it is a test of the original's"):
        from paddle.fluid.tests.unittests import test_dist_base  # noqa: F401


@pytest.mark.parametrize("as_arrays", [True, False])
def test_what_is_not_merged_is_a_list_of_what_each_place_found(as_arrays: bool) -> None:
    loss = _loss()
    exe = _begun()
    program = fluid.default_main_program().clone(for_test=True)
    (expected,) = exe.run(program, feed={"x": X}, fetch_list=[loss])
    words = {"fetch_list": [loss], "return_merged": False, "return_numpy": as_arrays}
    (found,) = exe.run(fluid.CompiledProgram(program), feed={"x": X}, **words)
    assert isinstance(found, list)
    assert [np.array(each).tolist() for each in found] == [expected.tolist()]
    (whole,) = exe.run(program, feed={"x": X}, **words)
    assert np.array(whole).shape == (1,)


def test_passes_that_a_program_adds_to_a_graph_are_taken_and_change_nothing() -> None:
    passes = fluid.BuildStrategy()._finalize_strategy_and_create_passes()
    shown = passes.append_pass("graph_viz_pass")
    shown.set("graph_viz_path", "/tmp/graph.dot")
    passes.insert_pass(0, "fuse_elewise_add_act_pass")
    assert [each.type() for each in passes.all_passes()] == ["fuse_elewise_add_act_pass", "graph_viz_pass"]
    passes.remove_pass(0)
    assert passes.all_passes() == [shown]
