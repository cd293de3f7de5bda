"""Arguments that no release has are named, and not swallowed; those of other releases are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle
import paddle.fluid as fluid
from paddle.fluid import layers


def _x() -> Any:
    return layers.data("x", [4])


def _op(**others: Any) -> Any:
    block = fluid.default_main_program().global_block()
    out = block.create_var(name="out", dtype="float32")
    return block.append_op(type="relu", inputs={"X": [_x()]}, outputs={"Out": [out]}, **others)


CALLS: dict[str, Callable[..., Any]] = {
    "batch_norm": lambda **others: layers.batch_norm(_x(), **others),
    "ParallelExecutor": lambda **others: fluid.ParallelExecutor(use_cuda=False, **others),
    "append_op": _op,
    "less_than": lambda **others: layers.less_than(_x(), _x(), **others),
    "load_checkpoint": lambda **others: fluid.io.load_checkpoint(fluid.Executor(), "nowhere", **others),
    "save": lambda **others: fluid.save(fluid.Program(), "it", **others),
    "save_inference_model": lambda **others: paddle.static.save_inference_model("it", [], [], None, **others),
    "load_inference_model": lambda **others: paddle.static.load_inference_model("it", None, **others),
    "serialize_program": lambda **others: paddle.static.serialize_program([], [], **others),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_no_release_has_is_named(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} has no argument 'momentun'"):
        CALLS[name](momentun=0.5)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("batch_norm", {"fuse_with_relu": False}),
        ("ParallelExecutor", {"num_threads": 2, "allow_op_delay": False}),
        ("append_op", {"stop_gradient": True}),
        ("less_than", {"force_cpu": True}),
        ("load_checkpoint", {"role_id": 0, "is_trainer": True}),
    ],
)
def test_what_another_release_has_is_taken(name: str, others: dict[str, Any]) -> None:
    CALLS[name](**others)


def test_transpilers_of_memory_take_what_they_took() -> None:
    program = fluid.Program()
    fluid.memory_optimize(program, skip_opt_set=set(), print_log=True, level=1)
    fluid.release_memory(program, skip_opt_set=None)
    with pytest.raises(TypeError, match="levels"):
        fluid.memory_optimize(program, levels=1)  # type: ignore[call-arg]
