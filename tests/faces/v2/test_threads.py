"""trainer_count: what several threads learn is what one does, but for the order in which floats are added,
and for layers that see their part of a batch alone.

The tolerance that decision 0062 states: 1e-5 of the greatest value of a parameter, after a dozen steps.
"""

from itertools import pairwise

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.teams import brief, share, shared
from paddle._engine.teams.team import Part
from paddle.v2._feeding.parts import parts

RNG = np.random.default_rng(11)
SIZES = [7, 3, 1, 8]  # of batches: not divisible, smaller than the number of threads, one sample


@pytest.fixture(autouse=True)
def cut(monkeypatch):
    """Batches are cut, as brief as their steps are."""
    monkeypatch.setattr(brief, "MOST", 0)


def batched(rows):
    """Batches of SIZES, one after another."""
    ends = np.cumsum([0, *SIZES])
    return lambda: iter([rows[first:end] for first, end in pairwise(ends)])


def words(name, size=9):
    return paddle.layer.data(name=name, type=paddle.data_type.integer_value(size))


def classified(hidden):
    out = paddle.layer.fc(input=hidden, size=3, act=paddle.activation.Softmax())
    return paddle.layer.classification_cost(input=out, label=words("label", 3))


def label():
    return int(RNG.integers(3))


def dense_with_dropout():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(5))
    hidden = paddle.layer.fc(
        input=x, size=16, act=paddle.activation.Tanh(), layer_attr=paddle.attr.Extra(drop_rate=0.3)
    )
    return classified(hidden), [(RNG.normal(size=5), label()) for _ in range(19)]


def sparse_rows():
    table = paddle.attr.Param(name="table", sparse_update=True)
    looked = [paddle.layer.embedding(input=words(f"w{i}"), size=4, param_attr=table) for i in range(3)]
    hidden = paddle.layer.fc(input=paddle.layer.concat(input=looked), size=6)
    return classified(hidden), [(*RNG.integers(0, 9, 3).tolist(), label()) for _ in range(19)]


def sparse_slots():
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_float_vector(20))
    hidden = paddle.layer.fc(input=x, size=6, param_attr=paddle.attr.Param(sparse_update=True))
    rows = [
        [(int(c), float(RNG.normal())) for c in RNG.integers(0, 20, RNG.integers(0, 4))] for _ in range(19)
    ]
    return classified(hidden), [(row, label()) for row in rows]


def sequences():
    x = paddle.layer.data(name="x", type=paddle.data_type.integer_value_sequence(9))
    looked = paddle.layer.embedding(input=x, size=8)
    hidden = paddle.networks.simple_lstm(input=looked, size=5)
    pooled = paddle.layer.pooling(input=hidden, pooling_type=paddle.pooling.Max())
    return classified(pooled), [(RNG.integers(0, 9, RNG.integers(1, 7)).tolist(), label()) for _ in range(19)]


def recurrent_groups():
    x = paddle.layer.data(name="x", type=paddle.data_type.integer_value_sequence(9))

    def step(word):
        before = paddle.layer.memory(name="state", size=5)
        return paddle.layer.fc(input=[word, before], size=5, name="state")

    state = paddle.layer.recurrent_group(step=step, input=paddle.layer.embedding(input=x, size=8))
    rows = [(RNG.integers(0, 9, RNG.integers(1, 7)).tolist(), label()) for _ in range(19)]
    return classified(paddle.layer.last_seq(input=state)), rows


def nested_sequences():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector_sub_sequence(2))
    inner = paddle.layer.pooling(
        input=x, pooling_type=paddle.pooling.Sum(), agg_level=paddle.layer.AggregateLevel.TO_SEQUENCE
    )
    hidden = paddle.layer.fc(input=paddle.layer.last_seq(input=inner), size=4)
    rows = [[RNG.normal(size=(RNG.integers(1, 4), 2)) for _ in range(RNG.integers(1, 4))] for _ in range(19)]
    return classified(hidden), [(row, label()) for row in rows]


def learned(cost, rows, threads, passes=3):
    paddle.init(trainer_count=threads, seed=4)
    parameters = paddle.parameters.create(cost)
    optimizer = paddle.optimizer.Momentum(learning_rate=0.1, momentum=0.9)
    trainer = paddle.trainer.SGD(cost, parameters, optimizer)
    seen = []
    trainer.train(batched(rows), num_passes=passes, event_handler=seen.append)
    costs = [(each.cost, each.metrics) for each in seen if isinstance(each, paddle.event.EndIteration)]
    tested = trainer.test(batched(rows))
    return {name: parameters[name] for name in parameters}, costs, tested


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize(
    "network",
    [dense_with_dropout, sparse_rows, sparse_slots, sequences, recurrent_groups, nested_sequences],
)
def test_several_threads_learn_what_one_does(network, threads):
    cost, rows = network()
    found, costs, tested = learned(cost, rows, threads)
    expected, expected_costs, expected_test = learned(cost, rows, 1)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-5 * np.abs(value).max())
    for (cost, metrics), (by_one, metrics_by_one) in zip(costs, expected_costs, strict=True):
        assert cost == pytest.approx(by_one, rel=1e-5) and metrics == pytest.approx(metrics_by_one)
    assert tested.cost == pytest.approx(expected_test.cost, rel=1e-5)


@pytest.mark.parametrize("network", [dense_with_dropout, sparse_rows, sequences, recurrent_groups])
def test_large_products_are_computed_by_all_threads_together(network, monkeypatch):
    monkeypatch.setattr(share, "pays", lambda shape, samples: len(shape) == 2)
    test_several_threads_learn_what_one_does(network, 3)


def test_several_threads_learn_the_same_bits_each_time():
    cost, rows = sparse_rows()
    first, again = (learned(cost, rows, 3)[0] for _ in range(2))
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_a_brief_step_is_computed_by_one_thread_to_the_bit(monkeypatch):
    monkeypatch.undo()
    cost, rows = dense_with_dropout()
    found, costs, _ = learned(cost, rows, 3)
    expected, expected_costs, _ = learned(cost, rows, 1)
    assert costs == expected_costs
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_one_thread_has_the_others_multiply_with_what_is_large(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(shared, "pays", lambda rows, shape: shape == (48, 32))
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(5))
    cost = classified(paddle.layer.fc(input=paddle.layer.fc(input=x, size=48), size=32))
    rows = [(RNG.normal(size=5), label()) for _ in range(19)]
    found, costs, _ = learned(cost, rows, 3)
    expected, expected_costs, _ = learned(cost, rows, 1)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-5 * np.abs(value).max())
    assert [cost for cost, _ in costs] == pytest.approx([cost for cost, _ in expected_costs], rel=1e-5)


def test_parts_hold_all_that_belongs_to_their_samples():
    feed = {
        "x": np.arange(6)[:, None],
        "x@outer": np.array([0, 2, 3, 4]),
        "x@offsets": np.array([0, 1, 3, 3, 6]),
        "s": np.array([5, 6, 7]),
        "s@amounts": np.array([0.5, 0.6, 0.7]),
        "s@starts": np.array([0, 2, 2, 3]),
        "y": np.array([[1], [2], [3]]),
    }
    first, second = ({k: v.tolist() for k, v in part.feed.items()} for part in parts(feed, 3, 2))
    assert first == {
        "x": [[0], [1], [2]],
        "x@outer": [0, 2],
        "x@offsets": [0, 1, 3],
        "s": [5, 6],
        "s@amounts": [0.5, 0.6],
        "s@starts": [0, 2],
        "y": [[1]],
    }
    assert second == {
        "x": [[3], [4], [5]],
        "x@outer": [0, 1, 2],
        "x@offsets": [0, 0, 3],
        "s": [7],
        "s@amounts": [0.7],
        "s@starts": [0, 0, 1],
        "y": [[2], [3]],
    }


def test_a_batch_with_a_part_of_empty_sequences_is_not_cut():
    feed = {"x": np.arange(3)[:, None], "x@offsets": np.array([0, 0, 3])}
    assert parts(feed, 2, 2) == [Part(feed, 2)]


def test_a_row_that_does_not_fit_is_counted_through_the_batch():
    cost, rows = sparse_rows()
    paddle.init(trainer_count=2)
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum())
    with pytest.raises(ValueError, match="row 3 of the batch, slot 'w1'"):
        trainer.train(lambda: iter([[*rows[:3], (0, 99, 0, 0)]]))


def normalizing(**attrs):
    def network():
        x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(6))
        before = paddle.layer.fc(x, size=4, name="before", act=paddle.activation.Linear())
        even = paddle.layer.batch_norm(before, name="even", act=paddle.activation.Tanh(), **attrs)
        out = paddle.layer.fc(even, size=3, act=paddle.activation.Softmax(), name="out")
        label = paddle.layer.data(name="y", type=paddle.data_type.integer_value(3))
        return paddle.layer.classification_cost(input=out, label=label)

    return network


def labelled(count):
    return [(RNG.normal(size=6).astype(np.float32) + 2, int(RNG.integers(3))) for _ in range(count)]


def of_one_step(network, batch, threads):
    """The parameters after one step, which a sample moves by so much less as there are more."""
    paddle.init(trainer_count=threads, seed=4)
    cost = network()
    parameters = paddle.parameters.create(cost)
    start = np.random.default_rng(1)
    for name in sorted(parameters):
        shape = parameters.get_shape(name)
        parameters.set(name, start.uniform(0.5, 1.5, shape).astype(np.float32))
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.1 / len(batch)))
    trainer.train(lambda: iter([batch]))
    return {name: parameters[name].copy() for name in parameters}


def test_two_threads_learn_what_two_halves_say_each_by_itself():
    """Each half is normalized by its own mean and variance, as by threads of the original; the averages that
    are kept move once, towards the mean of the halves', where the original moves them once for each."""
    batch = labelled(10)
    together = of_one_step(normalizing(), batch, 2)
    halves = [of_one_step(normalizing(), half, 1) for half in (batch[:5], batch[5:])]
    for name, value in together.items():
        expected = (halves[0][name] + halves[1][name]) / 2
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-6)
    whole = of_one_step(normalizing(), batch, 1)
    away = {name: float(np.abs(value - whole[name]).max()) for name, value in together.items()}
    np.testing.assert_allclose(together["_even.w1"], whole["_even.w1"], rtol=1e-5)  # the mean is the batch's
    assert away["_even.w2"] > 1e-3  # the variance lacks what is between the halves
    assert away["_out.w0"] > 1e-4  # and so all that is learned is not what one thread learns


def told(caplog):
    return [record.getMessage() for record in caplog.records if "its part alone" in record.getMessage()]


def test_the_log_says_once_which_layers_see_a_part_alone(caplog):
    paddle.init(trainer_count=2, seed=4)
    cost = normalizing()()
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum())
    trainer.train(lambda: iter([labelled(6), labelled(6)]), num_passes=2)
    (line,) = told(caplog)
    assert line.startswith("trainer_count=2: a batch is computed in 2 parts")
    assert line.endswith(": even")


@pytest.mark.parametrize(("threads", "kept", "samples"), [(1, False, 6), (2, True, 6), (2, False, 1)])
def test_nothing_is_said_where_it_makes_no_difference(caplog, threads, kept, samples):
    of_one_step(normalizing(use_global_stats=kept), labelled(samples), threads)
    assert told(caplog) == []
