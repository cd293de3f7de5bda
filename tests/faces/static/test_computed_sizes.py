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
    "sizes backwards": (lambda x: paddle.reshape(x, paddle.shape(x)[::-1]), None),
    "every second size": (lambda x: paddle.reshape(x, [paddle.shape(x[None])[::2][1], -1]), None),
    "var": (lambda x: paddle.var(x, 0), (3,)),
    "std of all": (lambda x: paddle.std(x, keepdim=True), (1, 1)),
    "var of one": (lambda x: paddle.var(x[:1], 0), (3,)),
    "kthvalue": (lambda x: paddle.kthvalue(x, 2, 0)[0], (3,)),
    "quantile": (lambda x: paddle.quantile(x, 0.3, 0), (3,)),
    "quantiles of all": (lambda x: paddle.quantile(x, [0.0, 0.5, 1.0]), None),
    "median": (lambda x: paddle.median(x, 0, keepdim=True), None),
    "take": (lambda x: paddle.take(x, paddle.to_tensor([[-1, 5]])), (1, 2)),
    "take around": (lambda x: paddle.take(x, paddle.to_tensor([13, -13]), "wrap"), (2,)),
    "take the nearest": (lambda x: paddle.take(x, paddle.to_tensor([99, -99]), "clip"), (2,)),
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
    "sizes backwards": X.reshape(3, 4),
    "every second size": X.reshape(3, 4),
    "var": X.var(0, ddof=1),
    "std of all": X.std(ddof=1, keepdims=True),
    "var of one": np.zeros(3),
    "kthvalue": X[1],
    "quantile": np.quantile(X, 0.3, 0),
    "quantiles of all": np.array([[0.0], [5.5], [11.0]]),
    "median": np.median(X, 0, keepdims=True),
    "take": np.array([[11.0, 5.0]]),
    "take around": np.array([1.0, 11.0]),
    "take the nearest": np.array([11.0, 0.0]),
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


def counter(at):
    return at


def less_one(at):
    return step_behind(at) - 1


def step_behind(at):
    """What cannot be followed back to what it was computed of."""
    return paddle.cast(paddle.floor(paddle.cast(at, "float32") + 1.5), "int64")


@pytest.mark.parametrize("begins", [counter, less_one])
def test_a_loop_that_counts_behind_who_cuts_by_its_counter_counts_once_a_turn(begins):
    x, at, many = paddle.static.data("x", [4, 3]), paddle.full([1], 0, "int64"), paddle.full([1], 4, "int64")
    found, goes_on = paddle.zeros([1, 3]), paddle.less_than(at, many)
    loop = paddle.fluid.layers.While(goes_on)
    with loop.block():
        part = paddle.slice(x, [0], [begins(at)], [step_behind(at)])
        paddle.assign(found * 2.0 + paddle.sum(part, 0, keepdim=True), found)
        paddle.increment(at)
        paddle.assign(paddle.less_than(at, many), goes_on)
    got, turns = paddle.static.Executor().run(feed={"x": X}, fetch_list=[found, at])
    np.testing.assert_array_equal(got, [[8, 4, 2, 1] @ X])
    assert turns.item() == 4


def test_an_array_of_tensors_is_written_where_it_is_told():
    at = paddle.zeros([1], "int64")
    array = paddle.tensor.array_write(paddle.ones([2]), at, paddle.tensor.create_array("float32"))
    wanted = [paddle.tensor.array_read(array, at), paddle.tensor.array_length(array)]
    one, length = paddle.static.Executor().run(fetch_list=wanted)
    assert (one.tolist(), int(length)) == ([1.0, 1.0], 1)


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_is_not_there_has_no_kth(axis):
    with pytest.raises(ValueError, match=rf"{axis} is not an axis of 'x', \[-1, 3\], of paddle.kthvalue"):
        paddle.kthvalue(paddle.static.data("x", [None, 3]), 1, axis)


def test_a_line_that_is_too_short_for_the_kth_says_so():
    values, _ = paddle.kthvalue(paddle.static.data("x", [None, 3]), 5, 0)
    with pytest.raises(ValueError, match=r"'kthvalue' .*: k is from 1 to 4 along axis 0, not 5"):
        paddle.static.Executor().run(feed={"x": X}, fetch_list=[values])
