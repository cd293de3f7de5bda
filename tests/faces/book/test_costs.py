"""Costs over rows, classes and tags: what a test reports is what numpy says, and a model of each learns."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle

RNG = np.random.default_rng(13)
X, Y, P = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3)), RNG.uniform(0.1, 1, size=(6, 3))
ONE, OTHER = RNG.normal(size=(6, 1)), RNG.normal(size=(6, 1))
LABEL, SIDE = RNG.integers(0, 3, 6), RNG.integers(0, 2, 6)
L, data = paddle.layer, paddle.data_type


def slot(name, type):
    return L.data(name=name, type=type)


def cost_of(cost, *columns):
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum())
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return trainer.test(lambda: iter([rows])).cost


def huber(away, delta):
    away = np.abs(away)
    return np.where(away <= delta, away**2 / 2, delta * (away - delta / 2)).sum(1)


def test_costs_of_rows_are_what_numpy_says() -> None:
    def pair():
        return slot("x", data.dense_vector(3)), slot("y", data.dense_vector(3))

    assert cost_of(L.huber_regression_cost(*pair(), delta=0.4), X, Y) == pytest.approx(
        huber(X - Y, 0.4).mean()
    )
    assert cost_of(L.smooth_l1_cost(*pair()), X, Y) == pytest.approx(huber(X - Y, 1.0).mean())
    x, label = slot("x", data.dense_vector(1)), slot("y", data.integer_value(2))
    margin = ONE[:, 0] * (2 * SIDE - 1)
    squared = np.where(margin < -1, -4 * margin, np.maximum(1 - margin, 0) ** 2)
    assert cost_of(L.huber_classification_cost(x, label), ONE, SIDE) == pytest.approx(squared.mean())
    p, label = slot("p", data.dense_vector(3)), slot("label", data.integer_value(3))
    z = P.sum(1)
    normed = -np.log(P[range(6), LABEL] / z) + 0.2 * np.log(z) ** 2
    found = cost_of(L.cross_entropy_with_selfnorm_cost(p, label, softmax_selfnorm_alpha=0.2), P, LABEL)
    assert found == pytest.approx(normed.mean(), rel=1e-5)


@pytest.mark.parametrize(
    "type", [data.dense_vector(1), data.integer_value(2), data.integer_value(1)], ids=str
)
def test_a_rank_costs_what_its_sigmoid_does(type) -> None:
    label = SIDE[:, None].astype(float) if type == data.dense_vector(1) else SIDE
    left, right = slot("l", data.dense_vector(1)), slot("r", data.dense_vector(1))
    chance = 1 / (1 + np.exp(OTHER - ONE))[:, 0]
    expected = -np.where(SIDE == 1, np.log(chance), np.log(1 - chance)).mean()
    cost = L.rank_cost(left, right, slot("y", type))
    assert cost_of(cost, ONE, OTHER, label) == pytest.approx(expected, rel=1e-5)


def test_integers_that_count_as_numbers_have_no_width_and_those_that_name_a_class_have() -> None:
    left, right = slot("l", data.dense_vector(1)), slot("r", data.dense_vector(1))
    side = slot("y", data.integer_value(1))
    rank = L.rank_cost(left, right, side)
    with pytest.raises(ValueError, match=r"row 0 of the batch, slot 'y' \(integer_value\): -1 .*0 or more"):
        cost_of(rank, ONE, OTHER, SIDE * 0 - 1)
    named = L.sum_cost(L.embedding(side, size=1))
    with pytest.raises(ValueError, match=r"slot 'y' \(integer_value\(1\)\): 1 .* not from 0 to 0"):
        cost_of([rank, named], ONE, OTHER, SIDE | 1)


def test_a_query_is_any_number() -> None:
    rank = L.rank_cost(*(slot(name, data.dense_vector(1)) for name in "lr"), slot("y", data.integer_value(1)))
    left, _, label = rank.parents
    query = slot("q", data.integer_value(1))
    paddle.evaluator.pnpair(left, label, query, name="pairs")
    parameters = paddle.parameters.create(rank)
    trainer = paddle.trainer.SGD(rank, parameters, paddle.optimizer.Momentum(), extra_layers=query)
    rows = [([0.3], [0.0], 1, 70), ([0.1], [0.0], 0, 70), ([0.2], [0.0], 0, 7)]
    assert trainer.test(lambda: iter([rows])).metrics["pairs"] == pytest.approx(1.0)


def documents(count):
    """Queries of 4 to 7 documents: the score goes by the first feature."""
    for _ in range(count):
        features = RNG.normal(size=(RNG.integers(4, 8), 3))
        scores = (features[:, :1] > 0.5) * 1.0 + (features[:, :1] > -0.5)
        yield features.tolist(), scores.tolist()


def test_lists_are_put_in_order() -> None:
    paddle.init(seed=3)
    features = slot("x", data.dense_vector_sequence(3))
    score = L.fc(features, size=1, act=paddle.activation.Linear(), bias_attr=False, name="rank")
    cost = L.lambda_cost(score, slot("score", data.dense_vector_sequence(1)), NDCG_num=3)
    rows, seen = list(documents(120)), []
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=0.05))

    def hear(event):
        if isinstance(event, paddle.event.EndIteration):
            seen.append(event.cost)

    trainer.train(paddle.batch(lambda: iter(rows), 20), num_passes=6, event_handler=hear)
    first, *others = parameters["_rank.w0"][:, 0]
    assert first > 3 * np.abs(others).max()
    assert np.mean(seen[-6:]) > np.mean(seen[:3])


@pytest.mark.parametrize("network", ["ctc", "warp_ctc"])
def test_tags_are_found_among_more_elements(network) -> None:
    """An element of a sequence is a tag and noise; each tag lasts for some of them."""
    paddle.init(seed=4)

    def rows(count):
        for _ in range(count):
            tags = RNG.integers(0, 3, RNG.integers(1, 4))
            lasting = np.repeat(np.eye(3)[tags], 2, axis=0)
            spaced = np.insert(lasting, range(2, len(lasting), 2), 0.0, axis=0)
            yield (spaced + RNG.normal(size=spaced.shape) * 0.1).tolist(), tags.tolist()

    x, tags = slot("x", data.dense_vector_sequence(3)), slot("tags", data.integer_value_sequence(3))
    if network == "ctc":
        seen = L.fc(x, size=4, act=paddle.activation.Softmax())
        cost = L.ctc(seen, tags, size=4)
    else:
        seen = L.fc(x, size=4, act=paddle.activation.Linear())
        cost = L.warp_ctc(seen, tags, size=4, blank=3, norm_by_times=True)
    paddle.evaluator.ctc_error(seen, tags, name="edits")
    samples, held = list(rows(150)), list(rows(40))
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Adam(learning_rate=0.05)
    )
    trainer.train(paddle.batch(lambda: iter(samples), 15), num_passes=6)
    assert trainer.test(lambda: iter([held])).metrics["edits.error"] < 0.1


def test_a_class_of_a_tree_is_as_probable_as_all_of_them_add_up_to_one() -> None:
    x, label = slot("x", data.dense_vector(3)), slot("label", data.integer_value(6))
    cost = L.hsigmoid(
        [x, L.fc(x, size=2)], label, bias_attr=paddle.attr.Param(name="b", initial_std=1.0), name="tree"
    )
    parameters = paddle.parameters.create(cost)
    assert parameters.get_shape("_tree.w0") == (5, 3)
    assert parameters.get_shape("b") == (1, 5)
    rows = [(X[0].tolist(), number) for number in range(6)]
    costs = paddle.infer(output_layer=cost, parameters=parameters, input=rows)
    assert np.exp(-costs).sum() == pytest.approx(1, rel=1e-5)


def test_what_does_not_fit_is_named() -> None:
    x, label, ids = (
        slot("x", data.dense_vector(3)),
        slot("y", data.dense_vector(3)),
        slot("i", data.integer_value(2)),
    )
    for use, says in (
        (lambda: L.nce(x, label), "its label is a data layer"),
        (lambda: L.nce(x, ids, neg_distribution=[0.5, 0.6]), "2 numbers whose sum is 1"),
        (lambda: L.hsigmoid(x, ids), "more than 2 classes"),
        (lambda: L.crf(x, ids, size=4), "has size 4, its input 3"),
        (lambda: L.crf_decoding(x, size=4), "has size 4"),
        (lambda: L.ctc(x, label), "sequence of integers"),
        (lambda: L.warp_ctc(x, ids, blank=3), "no column 3"),
        (lambda: L.rank_cost(x, x, ids), "ranks by one column"),
        (lambda: L.lambda_cost(x, x), "ranks by one column"),
        (lambda: L.huber_classification_cost(x, ids), "takes one column"),
    ):
        with pytest.raises(ValueError, match=says):
            use()
