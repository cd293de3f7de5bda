"""``paddle.Tensor`` of programs that only name it. Expectations are what 2.6.2 answers in static mode."""

import pickle
import typing

import numpy as np
import pytest

import paddle
from paddle._absent import NotInThisRelease

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
