"""What saved models are written with where 1.8's operators take less than its layers, and ours, do.

Each row was a model that 1.8.5 did not run, or computed otherwise; written so, it agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.framework_proto import ProgramDescProto
from paddle._program.description.written import fresh

L = fluid.layers
Network = Callable[[Any], Any]
X = np.random.default_rng(1).uniform(0.1, 1.0, (4, 3, 6)).astype("float32")


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _loop(x: Any) -> Any:
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    out, goes_on = x * 2.0, L.less_than(i, n)
    loop = L.While(goes_on)
    with loop.block():
        L.assign(L.tanh(out) + x, out)
        L.increment(i)
        L.less_than(i, n, cond=goes_on)
    return out


def _branches(x: Any) -> Any:
    return L.cond(L.reduce_sum(x) < 0.0, lambda: x * 2.0, lambda: L.relu(x - 0.5))


def _chosen(x: Any) -> Any:
    out = L.fill_constant([1], "float32", 1.0)
    with L.Switch() as switch:
        with switch.case(L.reduce_sum(x) < 0.0):
            L.assign(L.fill_constant([1], "float32", 2.0), out)
        with switch.default():
            L.assign(L.fill_constant([1], "float32", 3.0), out)
    return x + out


def _one(number: int) -> Any:
    return L.fill_constant([1], "int32", number)


def _saved(network: Network, folder: Path, **feeds: Any) -> tuple[Any, np.ndarray]:
    """The program as it was saved, and what the network computes; saved and read it computes the same."""
    feeds = feeds or {"x": X}
    shapes = {name: [None, *value.shape[1:]] for name, value in feeds.items()}
    out = network(*(fluid.data(name, shape) for name, shape in shapes.items()))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (wanted,) = exe.run(feed=feeds, fetch_list=[out])
    fluid.io.save_inference_model(str(folder), list(feeds), [out], exe)
    program, _, targets = fluid.io.load_inference_model(str(folder), exe)
    (found,) = exe.run(program, feed=feeds, fetch_list=targets)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    return program, wanted


def _only(program: Any, type: str) -> Any:
    (op,) = (op for block in program.blocks for op in block.ops if op.type == type)
    return op


@pytest.mark.parametrize(
    ("network", "type", "attrs"),
    [
        (lambda x: L.split(x, 3, dim=-2)[1], "split", {"axis": 1}),
        (lambda x: L.split(x, [2, -1])[0], "split", {"axis": 2}),
        (lambda x: L.slice(x, [-1], [1], [3]), "slice", {"axes": [2], "infer_flags": [1]}),
        (lambda x: L.slice(x, [1], [_one(1)], [_one(3)]), "slice", {"infer_flags": [-1]}),
        (lambda x: x[:, ::2, 1:], "strided_slice", {"axes": [1, 2], "infer_flags": [1, 1]}),
        (lambda x: L.strided_slice(x, [1], [_one(0)], [3], [2]), "strided_slice", {"infer_flags": [-1]}),
        (lambda x: x[:, ::-1], "strided_slice", {"starts": [10**7], "ends": [-1], "strides": [-1]}),
        (lambda x: x[:, 1::2], "strided_slice", {"starts": [1], "ends": [10**7], "strides": [2]}),
        (lambda x: L.strided_slice(x, [1], [2], _one(-1), [-1]), "strided_slice", {"starts": [2]}),
        (lambda x: L.fc(x, 5, num_flatten_dims=-1), "mul", {"x_num_col_dims": 2}),
        (lambda x: L.softmax(x, use_cudnn=True, axis=1), "softmax", {"axis": 1, "use_cudnn": False}),
        (lambda x: L.cumsum(x, axis=-2), "cumsum", {"axis": 1}),
        (lambda x: L.flip(x, [-1]), "flip", {"dims": [-1], "axis": [-1]}),
        (lambda x: L.unsqueeze(x, [_one(1)]), "unsqueeze2", {"axes": []}),
        (lambda x: L.topk(x, _one(2))[0], "top_k", {"k": 1}),
    ],
)
def test_attributes(network: Network, type: str, attrs: dict[str, Any], tmp_path: Path) -> None:
    op = _only(_saved(network, tmp_path)[0], type)
    assert {name: op.attr(name) for name in attrs} == attrs


def test_the_sum_along_all_elements_is_along_the_one_axis_that_there_is(tmp_path: Path) -> None:
    """``paddle.cumsum(x)``, of which 2.6.2 refuses another axis."""

    def network(x: Any) -> Any:
        block = fluid.default_main_program().global_block()
        out = block.create_var(name="sums", dtype="float32")
        traits = {"axis": -1, "flatten": True}
        block.append_op(type="cumsum", inputs={"X": x}, outputs={"Out": out}, attrs=traits)
        return out

    program, _ = _saved(network, tmp_path)
    assert _only(program, "cumsum").attr("axis") == -1


def test_volumes_are_laid_out_as_images_are(tmp_path: Path) -> None:
    volumes = {"x": np.ones((2, 2, 4, 4, 4), "float32")}
    program, _ = _saved(lambda x: L.conv3d_transpose(x, 3, filter_size=2, stride=2), tmp_path, **volumes)
    assert _only(program, "conv3d_transpose").attr("data_format") == "NCHW"


@pytest.mark.parametrize(
    ("network", "type", "slot"),
    [(_loop, "while", "StepScopes"), (_branches, "conditional_block", "Scope")],
)
def test_loops_and_branches_have_a_variable_for_their_scopes(
    network: Network, type: str, slot: str, tmp_path: Path
) -> None:
    program, _ = _saved(network, tmp_path)
    found = [op for op in program.global_block().ops if op.type == type]
    scopes = [op.output(slot)[0] for op in found]
    assert len(set(scopes)) == len(found) > 0
    kinds = {program.global_block().var(name).type for name in scopes}
    assert kinds == {fluid.core.VarDesc.VarType.STEP_SCOPES}


def test_a_branch_that_reads_nothing_has_a_slot_for_what_it_reads(tmp_path: Path) -> None:
    _saved(_chosen, tmp_path)
    ops = ProgramDescProto.FromString((tmp_path / "__model__").read_bytes()).blocks[0].ops
    reads = [
        {each.parameter: each.arguments for each in op.inputs} for op in ops if op.type == "conditional_block"
    ]
    assert [each["Input"] for each in reads] == [[], []]


def test_the_power_of_a_number_has_the_axes_of_its_exponent(tmp_path: Path) -> None:
    program, found = _saved(lambda x: 2.0**x, tmp_path)
    op = _only(program, "elementwise_pow")
    assert len(program.global_block().var(op.input("X")[0]).shape) == 3
    np.testing.assert_allclose(found, 2.0**X, rtol=1e-5)


def test_logarithms_of_a_softmax_are_written_in_operators_that_fluid_has(tmp_path: Path) -> None:
    def network(x: Any) -> Any:
        block = fluid.default_main_program().global_block()
        out = block.create_var(name="logs", dtype="float32", shape=x.shape)
        block.append_op(type="log_softmax", inputs={"X": x}, outputs={"Out": out}, attrs={"axis": 1})
        return out

    program, found = _saved(network, tmp_path)
    assert "log_softmax" not in {op.type for op in program.global_block().ops}
    np.testing.assert_allclose(np.exp(found).sum(axis=1), np.ones((4, 6)), rtol=1e-5)
