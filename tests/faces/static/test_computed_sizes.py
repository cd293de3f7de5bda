"""How often, how far and from where: numbers that only a run knows, as 2.6.2 takes them."""

import numpy as np
import pytest

import paddle

pytestmark = pytest.mark.usefixtures("alone")

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def rows_of(x):
    return paddle.shape(x)[0]


def pair(a, b):
    return paddle.assign(np.array([a, b], np.int32))


CASES = {
    "tile": (lambda x: paddle.tile(paddle.mean(x, 0, keepdim=True), [rows_of(x), 1]), (-1, 3)),
    "tile by a variable": (lambda x: paddle.tile(x, pair(2, 2)), None),
    "tile of more axes": (lambda x: paddle.tile(x, [rows_of(x), 1, 2]), (-1, -1, 6)),
    "expand": (lambda x: paddle.expand(paddle.mean(x, 0, keepdim=True), [rows_of(x), 3]), (-1, 3)),
    "expand leaves": (lambda x: paddle.expand(paddle.mean(x, 0, keepdim=True), [rows_of(x), -1]), (-1, 3)),
    "expand by a variable": (lambda x: paddle.expand(paddle.mean(x, 0, keepdim=True), pair(4, 3)), None),
    "slice": (lambda x: paddle.slice(x, [0], [0], [rows_of(x) - 1]), (-1, 3)),
    "slice by variables": (lambda x: paddle.slice(x, [0, 1], pair(1, 0), pair(3, 2)), None),
    "strided_slice": (lambda x: paddle.strided_slice(x, [0], [0], [rows_of(x)], [np.int64(2)]), (-1, 3)),
}
MEAN = X.mean(0, keepdims=True)
WANTED = {
    "tile": np.tile(MEAN, (4, 1)),
    "tile by a variable": np.tile(X, (2, 2)),
    "tile of more axes": np.tile(X, (4, 1, 2)),
    "expand": np.tile(MEAN, (4, 1)),
    "expand leaves": np.tile(MEAN, (4, 1)),
    "expand by a variable": np.tile(MEAN, (4, 1)),
    "slice": X[:3],
    "slice by variables": X[1:3, :2],
    "strided_slice": X[::2],
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_says_how_much(name):
    function, shape = CASES[name]
    x = paddle.static.data("x", [None, 3])
    out = function(x)
    assert shape is None or out.shape == shape
    assert paddle.static.Executor().run(feed={"x": X}, fetch_list=[out])[0] == pytest.approx(WANTED[name])


def test_a_parameter_tiled_once_for_each_sample_gets_what_all_of_them_give():
    x = paddle.static.data("x", [None, 3])
    ones = paddle.nn.initializer.Constant(1.0)
    row = paddle.static.create_parameter([1, 3], "float32", default_initializer=ones)
    loss = paddle.sum(paddle.tile(row, [rows_of(x), 1]) * x)
    paddle.optimizer.SGD(0.1).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    assert executor.run(feed={"x": X}, fetch_list=[row])[0] == pytest.approx(1 - 0.1 * X.sum(0)[None])
