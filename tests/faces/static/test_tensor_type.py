"""``paddle.Tensor`` of programs that only name it. Expectations are what 2.6.2 answers in static mode."""

import pickle
import typing

import numpy as np
import pytest

import paddle
from paddle._absent import NotInThisRelease
from paddle._program.description.written import fresh

pytestmark = pytest.mark.usefixtures("alone")


def test_it_is_a_type_that_is_imported_and_annotated_with() -> None:
    from paddle import Tensor

    def identity(x: paddle.Tensor, y: "paddle.Tensor | None" = None) -> Tensor:
        return x

    assert paddle.Tensor is Tensor and isinstance(Tensor, type)
    assert repr(Tensor) == "<class 'paddle.Tensor'>"
    assert typing.get_type_hints(identity) == {"x": Tensor, "y": Tensor | None, "return": Tensor}
    assert pickle.loads(pickle.dumps(Tensor)) is Tensor
    assert "Tensor" in paddle.__all__ and "Tensor" in dir(paddle)


def test_nothing_of_a_static_program_is_one() -> None:
    x = paddle.static.data("x", [None, 2])
    weight = paddle.static.create_parameter([2, 2], "float32")
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    array = np.ones((1, 2), "float32")
    (fetched,) = executor.run(feed={"x": array}, fetch_list=[x + 1], return_numpy=False)
    held = paddle.static.global_scope().find_var(weight.name).get_tensor()
    for each in (x, x + 1, weight, fetched, held, array, 1.0, None):
        assert not isinstance(each, paddle.Tensor), each
    assert isinstance(x, (list, paddle.Tensor, paddle.static.Variable))
    assert not issubclass(paddle.static.Variable, paddle.Tensor)
    assert paddle.is_tensor(x)


def test_who_makes_one_is_told_where_values_come_from() -> None:
    """2.6.2 ends with a fault of memory there."""

    class Own(paddle.Tensor):
        pass

    for kind in (paddle.Tensor, Own):
        with pytest.raises(NotInThisRelease, match=r"computes at once.*paddle\.enable_static\(\).*feed"):
            kind(np.ones(2))


def test_dtypes_and_variables_are_printed_as_2_x_prints_them() -> None:
    x = paddle.static.data("x", [None, 3])
    weight = paddle.static.create_parameter([3, 2], "float32", name="w")
    assert (str(x.dtype), f"{paddle.int64}", str(paddle.bool)) == (
        "paddle.float32",
        "paddle.int64",
        "paddle.bool",
    )
    assert repr([x.dtype]) == "[<VarType.FP32: 5>]" and str(x.type) == "VarType.LOD_TENSOR"
    assert isinstance(x.dtype, paddle.dtype) and paddle.dtype(5) == x.dtype
    assert str(x) == "var x : LOD_TENSOR.shape(-1, 3).dtype(float32).stop_gradient(True)"
    line = "persist trainable param w : LOD_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)"
    assert repr(weight) == line
    assert "in_dtype = 5, op_role = 0, out_dtype = 3" in str(paddle.cast(x, "int64").block.ops[-1])


def test_those_of_fluid_are_printed_as_1_x_prints_them() -> None:
    with fresh(is_static=False):
        assert (str(paddle.float32), repr(paddle.float32)) == ("VarType.FP32", "VarType.FP32")


def test_bfloat16_is_a_dtype_to_ask_for_and_computes_in_float32() -> None:
    x = paddle.static.data("x", [None, 2])
    short = x.astype("bfloat16") * 2
    assert short.dtype == paddle.bfloat16 and x.dtype not in (paddle.float16, paddle.bfloat16)
    executor, feed = paddle.static.Executor(), {"x": np.array([[0.5, 3]], "float32")}
    assert executor.run(feed=feed, fetch_list=[short.astype("float32")])[0].tolist() == [[1, 6]]
    with pytest.raises(ValueError, match="cast to float32 what is fed or fetched"):
        executor.run(feed=feed, fetch_list=[short])
