"""Arrays whose sizes are those of others, as programs count their samples."""

import numpy as np
import pytest

import paddle
from paddle._program.errors import BadProgram
from paddle.fluid import Executor, Program, program_guard


@pytest.fixture
def program():
    paddle.enable_static()
    made = Program()
    with program_guard(made, Program()):
        yield made


def run(program: Program, fetch: object, rows: int) -> np.ndarray:
    feed = {"x": np.zeros((rows, 3), np.float32)}
    (found,) = Executor().run(program, feed=feed, fetch_list=[fetch])
    return found


def test_samples_are_counted_by_an_array_as_long_as_the_batch(program) -> None:
    x = paddle.static.data("x", [None, 3], "float32")
    ones = paddle.full(shape=[paddle.shape(x)[0], 2], fill_value=1.5)
    total = paddle.sum(ones)
    for rows in (4, 7, 4):
        assert run(program, ones, rows).shape == (rows, 2)
        assert run(program, total, rows) == 3.0 * rows


def test_a_size_that_the_program_knows_is_a_number(program) -> None:
    x = paddle.static.data("x", [None, 3], "float32")
    assert run(program, paddle.full([paddle.shape(x)[1], 2], 2, "int64"), 4).tolist() == [[2, 2]] * 3


def test_the_shape_of_another_may_be_given_whole(program) -> None:
    x = paddle.static.data("x", [None, 3], "float32")
    found = run(program, paddle.full(paddle.shape(x), 7, "int64"), 5)
    assert found.shape == (5, 3) and found.dtype == np.int64


def test_a_size_that_follows_from_a_value_is_refused_by_name(program) -> None:
    x = paddle.static.data("x", [None, 3], "float32")
    with pytest.raises(BadProgram, match="sizes must not follow from values"):
        paddle.full([paddle.cast(paddle.sum(x), "int64"), 2], 1.0)
