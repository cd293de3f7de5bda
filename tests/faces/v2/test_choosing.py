"""What chooses in v2: columns of a product, ways of a search, pixels; and what a network prints."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease

RNG = np.random.default_rng(31)
LINEAR = paddle.activation.Linear()


def dense(name: str, size: int, **sides: int) -> paddle.layer.LayerOutput:
    return paddle.layer.data(name=name, type=paddle.data_type.dense_vector(size), **sides)


def image(name: str = "image", channels: int = 2) -> paddle.layer.LayerOutput:
    made = dense(name, channels * 4 * 6, height=4, width=6)
    made.num_filters = channels
    return made


def given(count: int = 3, *shape: int) -> np.ndarray:
    return RNG.normal(size=(count, *(shape or (2, 4, 6)))).astype(np.float32)


def slopes_hold(
    cost: paddle.layer.LayerOutput, rows: list, names: list[str], wide: float = 5e-3
) -> paddle.parameters.Parameters:
    """What training says of gradients is what differences of the cost say."""
    parameters, seen = paddle.parameters.create(cost), []
    held = paddle.optimizer.Momentum(momentum=0.0, learning_rate=0.0)
    trainer = paddle.trainer.SGD(cost, parameters, held)

    def look(event: object) -> None:
        if isinstance(event, paddle.event.EndIteration):
            seen.append((event.cost * len(rows), {name: parameters.get_grad(name) for name in names}))

    def at(name: str, place: tuple[int, ...], by: float) -> float:
        moved = parameters[name]
        moved[place] += by
        parameters[name] = moved
        trainer.train(paddle.batch(lambda: iter(rows), len(rows)), event_handler=look)
        moved[place] -= by
        parameters[name] = moved
        return seen[-1][0]

    trainer.train(paddle.batch(lambda: iter(rows), len(rows)), event_handler=look)
    slopes = seen[0][1]
    for name in names:
        place = np.unravel_index(np.abs(slopes[name]).argmax(), slopes[name].shape)
        found = (at(name, place, wide) - at(name, place, -wide)) / (2 * wide)
        assert slopes[name][place] == pytest.approx(found, rel=2e-2), name
    return parameters


def test_a_selective_layer_computes_the_columns_that_a_sample_names() -> None:
    x, other = dense("x", 4), dense("other", 3)
    asked = paddle.layer.data(name="asked", type=paddle.data_type.sparse_binary_vector(6))
    few = paddle.layer.selective_fc([x, other], 6, select=asked, act=LINEAR, name="s")
    whole = paddle.layer.selective_fc(x, 6, act=LINEAR, name="t")
    parameters = paddle.parameters.create([few, whole])
    assert parameters.get_shape("_s.w0") == (6, 4)
    assert parameters.get_shape("_s.w1") == (6, 3)
    assert parameters.get_shape("_s.wbias") == (1, 6)
    parameters["_s.wbias"] = RNG.normal(size=(1, 6))
    rows, more, names = given(2, 4), given(2, 3), [[5, 0], [1, 2]]
    fed = list(zip(rows, more, names, strict=True))
    found = paddle.infer(few, parameters, fed, feeding={"x": 0, "other": 1, "asked": 2})
    all_of = rows @ parameters["_s.w0"].T + more @ parameters["_s.w1"].T + parameters["_s.wbias"]
    np.testing.assert_allclose(found, np.take_along_axis(all_of, np.array(names), 1), rtol=1e-5)
    found = paddle.infer(whole, parameters, [(row,) for row in rows])
    np.testing.assert_allclose(found, rows @ parameters["_t.w0"].T, rtol=1e-5, atol=1e-6)
    uneven = [(rows[0], more[0], [1]), (rows[1], more[1], [1, 2])]
    with pytest.raises(ValueError, match="as many columns as every other one"):
        paddle.infer(few, parameters, uneven, feeding={"x": 0, "other": 1, "asked": 2})


def test_it_learns_the_right_one_among_them() -> None:
    x = dense("x", 4)
    asked = paddle.layer.data(name="asked", type=paddle.data_type.sparse_binary_vector(6))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(6))
    few = paddle.layer.selective_fc(x, 6, select=asked, act=paddle.activation.Softmax(), name="s")
    cost = paddle.layer.cross_entropy_cost(few, label)
    rows = [(row, RNG.permutation(6)[:3].tolist(), int(RNG.integers(3))) for row in given(7, 4)]
    slopes_hold(cost, rows, ["_s.w0", "_s.wbias"])


def search(golds: list[int]) -> float:
    """The first step of what is fed, the second of the best: of each sample what its ways cost, summed."""
    words = paddle.layer.data(name="words", type=paddle.data_type.dense_vector_sub_sequence(3))
    best = dense("best", 2)
    right = [paddle.layer.data(name=name, type=paddle.data_type.integer_value(1)) for name in ("one", "two")]
    ends = paddle.layer.last_seq(words, agg_level=paddle.layer.AggregateLevel.TO_SEQUENCE)
    first = paddle.layer.fc(ends, size=1, act=LINEAR, bias_attr=False, name="first")
    second = paddle.layer.fc(
        paddle.layer.sub_nested_seq(words, best), size=1, act=LINEAR, bias_attr=False, name="second"
    )
    then = paddle.layer.kmax_seq_score(second, beam_size=2)
    steps = [
        paddle.layer.BeamInput(first, best, right[0]),
        paddle.layer.BeamInput(second, then, right[1]),
    ]
    cost = paddle.layer.cross_entropy_over_beam(steps)
    local = np.random.default_rng(3)
    texts = [[local.normal(size=(n, 3)).tolist() for n in lengths] for lengths in ([3, 2, 4], [2, 5])]
    chosen = [[2, 0], [1, -1]]
    rows = list(zip(texts, chosen, golds[::2], golds[1::2], strict=True))
    parameters = slopes_hold(cost, rows, ["_first.w0", "_second.w0"], wide=1e-3)
    found = paddle.infer(cost, parameters, rows)
    assert found.shape == (2, 1)
    return float(found.sum())


def test_a_search_costs_the_logarithm_of_its_right_ways_share() -> None:
    costs = [search([first, second, 1, 3]) for first in range(3) for second in range(2)]
    assert min(costs) > 0
    assert len({round(cost, 4) for cost in costs}) > 3


def test_a_piece_of_an_image_is_scaled() -> None:
    seen = paddle.layer.fc(image(), size=48, act=LINEAR, name="f")
    seen.num_filters, seen.config.height, seen.config.width = 2, 4, 6
    bounds = dense("bounds", 6)
    piece = paddle.layer.scale_sub_region(seen, bounds, value=-2.0)
    rows, told = given(), [[1, 1, 2, 3, 1, 6], [2, 2, 1, 4, 3, 3], [1, 2, 4, 4, 6, 6]]
    cost = paddle.layer.sum_cost(paddle.layer.fc(piece, size=1, name="g"))
    fed = [(row.ravel(), each) for row, each in zip(rows, told, strict=True)]
    parameters = slopes_hold(cost, fed, ["_f.w0"])
    before, found = paddle.infer([seen, piece], parameters, fed)
    expected = before.reshape(3, 2, 4, 6).copy()
    expected[0, 0:1, 1:3, 0:6] *= -2
    expected[1, 1:2, 0:4, 2:3] *= -2
    expected[2, 0:2, 3:4, 5:6] *= -2
    np.testing.assert_allclose(found, expected.reshape(3, -1), rtol=1e-6)
    before, empty = paddle.infer([seen, piece], parameters, [(rows[0].ravel(), [1, 2, 1, 4, 7, 6])])
    np.testing.assert_array_equal(empty, before)
    with pytest.raises(ValueError, match="a piece from 0 to 1, counted from 1"):
        paddle.infer(piece, parameters, [(rows[0].ravel(), [0, 1, 1, 1, 1, 1])])


@pytest.mark.parametrize(("axis", "shape"), [(1, (3, 48)), (2, (12, 12)), (3, (72, 2))])
def test_channels_come_last(axis: int, shape: tuple[int, int]) -> None:
    layer = paddle.layer.switch_order(image(), reshape_axis=axis)
    assert layer.size == shape[1]
    rows = given()
    parameters = paddle.parameters.create(paddle.layer.fc(image(), size=1))
    found = paddle.infer(layer, parameters, [(row.ravel(),) for row in rows])
    np.testing.assert_array_equal(found, rows.transpose(0, 2, 3, 1).reshape(shape))


def test_pixels_go_back_to_where_a_pooling_took_them_from() -> None:
    mask = paddle.pooling.MaxWithMask()
    pool = paddle.layer.img_pool(image(), pool_size=2, stride=2, pool_type=mask, name="p")
    twice = paddle.layer.fc(pool, size=12, act=LINEAR, name="f")
    twice.num_filters, twice.config.height, twice.config.width = 2, 2, 3
    large = paddle.layer.upsample([twice, pool], scale=2)
    assert (large.size, large.num_filters, large.config.height, large.config.width) == (48, 2, 4, 6)
    cost = paddle.layer.sum_cost(paddle.layer.fc(large, size=1, name="g"))
    rows = given()
    fed = [(row.ravel(),) for row in rows]
    parameters = slopes_hold(cost, fed, ["_f.w0"], wide=1e-3)
    small, found = paddle.infer([twice, large], parameters, fed)
    expected = np.zeros((3, 2, 4, 6))
    for n, c, i, j in np.ndindex(3, 2, 2, 3):
        window = rows[n, c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        down, across = np.unravel_index(window.argmax(), (2, 2))
        expected[n, c, 2 * i + down, 2 * j + across] = small.reshape(3, 2, 2, 3)[n, c, i, j]
    np.testing.assert_allclose(found, expected.reshape(3, -1), rtol=1e-6)


@pytest.mark.parametrize("trans", [False, True])
def test_each_image_has_filters_of_its_own(trans: bool) -> None:
    x, told = image(), dense("told", 5)
    filters = paddle.layer.fc(told, size=3 * 2 * 2 * 3, act=LINEAR, name="own")
    seen = paddle.layer.mixed(
        input=paddle.layer.conv_operator(
            x, filters, filter_size=3, filter_size_y=2, num_filters=3, stride=2, padding=1, trans=trans
        ),
        name="m",
    )
    fixed = paddle.layer.img_conv(
        image("again"), (3, 2), 3, stride=2, padding=1, trans=trans, bias_attr=False, act=LINEAR, name="c"
    )
    cost = paddle.layer.sum_cost(paddle.layer.fc(seen, size=1, name="g"))
    rows, numbers = given(), given(3, 5)
    fed = [(row.ravel(), each) for row, each in zip(rows, numbers, strict=True)]
    parameters = slopes_hold(cost, fed, ["_own.w0"])
    own, found = paddle.infer([filters, seen], parameters, fed)
    of_fixed = paddle.parameters.create(fixed)
    for row, weights, each in zip(rows, own, found, strict=True):
        of_fixed["_c.w0"] = weights.reshape(1, -1)
        expected = paddle.infer(fixed, of_fixed, [(row.ravel(),)])[0]
        np.testing.assert_allclose(each, expected, rtol=1e-4, atol=1e-5)


def test_a_network_prints_what_its_layers_give_and_what_comes_back_to_them(capsys) -> None:
    x, label = dense("x", 2), dense("label", 1)
    out = paddle.layer.fc(x, size=1, act=LINEAR, name="out", bias_attr=False)
    assert paddle.layer.printer(out) is None
    paddle.layer.printer([x, out], format="x is %s and out is %s", name="both")
    paddle.layer.printer([dense("stranger", 2), out], name="of another network")
    paddle.evaluator.gradient_printer([out, x])
    cost = paddle.layer.square_error_cost(out, label, name="cost")
    parameters = paddle.parameters.create(cost)
    parameters["_out.w0"] = np.array([[1.0], [2.0]])
    held = paddle.optimizer.Momentum(momentum=0.0, learning_rate=0.0)
    trainer = paddle.trainer.SGD(cost, parameters, held)
    trainer.train(paddle.batch(lambda: iter([([1.0, 2.0], [1.0])]), 1))
    said = capsys.readouterr().out
    assert "layer=out value:\n[[5.]]" in said
    assert "x is value:\n[[1. 2.]] and out is value:\n[[5.]]" in said
    assert "layer=out grad matrix:\n[[8.]]" in said
    assert "layer=x grad matrix:\nnone" in said
    assert "stranger" not in said
    trainer.test(paddle.batch(lambda: iter([([3.0, 4.0], [1.0])]), 1))
    assert "layer=out value:\n[[11.]]" in capsys.readouterr().out
    paddle.infer(out, parameters, [([1.0, 1.0],)])
    said = capsys.readouterr().out
    assert "layer=out value:\n[[3.]]" in said
    assert "grad matrix" not in said


WRONG = [
    (lambda: paddle.layer.selective_fc(dense("x", 4), 6, select=dense("y", 6)), r"sparse_binary_vector\(6\)"),
    (lambda: paddle.layer.scale_sub_region(image(), dense("y", 4), 1.0), "indices are 6 numbers"),
    (lambda: paddle.layer.switch_order(image(), reshape_axis=4), "reshape_axis is 1, 2 or 3, not 4"),
    (lambda: paddle.layer.upsample([image(), image("b")], scale=2), "pool_type=MaxWithMask"),
    (lambda: paddle.layer.printer(dense("x", 1), format="nothing"), "format has one %s for each of 1"),
    (lambda: paddle.layer.BeamInput(dense("x", 2), dense("y", 1), dense("z", 1)), "an element has one score"),
    (lambda: paddle.layer.BeamInput(dense("x", 1), dense("y", 1), dense("z", 1)), "gold is a data layer"),
    (lambda: paddle.layer.cross_entropy_over_beam(dense("x", 1)), "input is a BeamInput"),
    (lambda: paddle.layer.conv_operator(image(), dense("y", 9), 3, 2), "are 36 numbers for each image"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_does_not_fit_is_said_where_it_is_written(wrong, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        wrong()


def test_sparse_rows_for_a_search_are_of_a_later_release() -> None:
    with pytest.raises(NotInThisRelease, match="pass_generation"):
        paddle.layer.selective_fc(dense("x", 4), 6, pass_generation=True)
