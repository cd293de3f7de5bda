"""Arrays whose sizes are those of others, as programs count their samples."""

import numpy as np
import pytest

import paddle
from paddle import fluid
from paddle._program.description.written import fresh
from paddle.fluid import Executor, Program, program_guard


@pytest.fixture
def program():
    with fresh():
        paddle.enable_static()
        yield fluid.default_main_program()


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


def test_a_size_may_follow_from_a_value(program) -> None:
    x = paddle.static.data("x", [None, 3], "float32")
    found = paddle.full([paddle.cast(paddle.sum(x + 1.0), "int64"), 2], 1.0)
    for rows in (2, 3, 2):
        assert run(program, found, rows).shape == (3 * rows, 2)


def test_sizes_that_layers_of_fluid_are_told_follow_from_what_a_run_is_fed() -> None:
    layers = fluid.layers
    with program_guard(Program(), Program()), fluid.unique_name.guard():
        x = fluid.data("x", [None, None, 6])
        told = fluid.data("told", [3], "int32")
        sizes = layers.shape(x)
        rows, length = sizes[0], sizes[1]
        found = [
            layers.fill_constant([rows, length], "float32", 2.0),
            layers.reshape(x, [rows * length, 6]),
            layers.reshape(x, [rows, length, 3, 2]),
            layers.reshape(x, [0, -1, 3], actual_shape=told),
            layers.expand(layers.unsqueeze(x, [1]), [1, length, 1, 1]),
            layers.slice(x, [1], [0], [length - 1]),
        ]
        assert [each.shape for each in found[:3]] == [(-1, -1), (-1, 6), (-1, -1, 3, 2)]
        for batch, many in ((2, 3), (4, 2)):
            values = np.arange(batch * many * 6, dtype=np.float32).reshape(batch, many, 6)
            feed = {"x": values, "told": np.array([batch, many * 2, 3], np.int32)}
            full, flat, parted, as_told, again, front = Executor().run(feed=feed, fetch_list=found)
            np.testing.assert_array_equal(full, np.full((batch, many), 2.0))
            np.testing.assert_array_equal(flat, values.reshape(-1, 6))
            np.testing.assert_array_equal(parted, values.reshape(batch, many, 3, 2))
            np.testing.assert_array_equal(as_told, values.reshape(batch, many * 2, 3))
            np.testing.assert_array_equal(again, np.repeat(values[:, None], many, 1))
            np.testing.assert_array_equal(front, values[:, :-1])


def test_gradients_go_back_through_computed_sizes() -> None:
    layers = fluid.layers
    with program_guard(Program(), Program()):
        x = fluid.data("x", [None, None, 4])
        x.stop_gradient = False
        sizes = layers.shape(x)
        flat = layers.reshape(x, [sizes[0] * sizes[1], 4])
        (gradient,) = fluid.gradients(layers.reduce_sum(flat * flat), x)
        values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        (found,) = Executor().run(feed={"x": values}, fetch_list=[gradient])
        np.testing.assert_array_equal(found, 2 * values)


def test_masks_draws_and_images_have_the_sizes_of_others() -> None:
    layers = fluid.layers
    with program_guard(Program(), Program()):
        x, lengths = fluid.data("x", [None, 8, None, None]), fluid.data("lengths", [None], "int64")
        sizes = layers.shape(x)
        found = [
            layers.sequence_mask(lengths, maxlen=sizes[2], dtype="float32"),
            layers.uniform_random([sizes[0], 3], min=1.0, max=2.0),
            layers.pixel_shuffle(x, 2),
            layers.shuffle_channel(x, 2),
            layers.resize_nearest(
                layers.pool2d(x, 2, "max", 2), out_shape=layers.slice(sizes, [0], [2], [4])
            ),
        ]
        assert [each.shape for each in found[1:4]] == [(-1, 3), (-1, 2, -1, -1), (-1, 8, -1, -1)]
        for tall, wide in ((4, 6), (2, 4)):
            values = np.arange(2 * 8 * tall * wide, dtype=np.float32).reshape(2, 8, tall, wide)
            feed = {"x": values, "lengths": np.array([1, tall])}
            mask, drawn, larger, mixed, again = Executor().run(feed=feed, fetch_list=found)
            np.testing.assert_array_equal(mask, np.arange(tall) < feed["lengths"][:, None])
            assert drawn.shape == (2, 3) and drawn.min() >= 1.0
            parts = values.reshape(2, 2, 2, 2, tall, wide).transpose(0, 1, 4, 2, 5, 3)
            np.testing.assert_array_equal(larger, parts.reshape(2, 2, 2 * tall, 2 * wide))
            halves = values.reshape(2, 2, 4, tall, wide).swapaxes(1, 2)
            np.testing.assert_array_equal(mixed, halves.reshape(values.shape))
            assert again.shape == values.shape
