"""Pieces of sequences in v2: cut by numbers that are fed, chosen, or taken at strides."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.errors import FeedError, ShapeError

layer, data_type = paddle.layer, paddle.data_type
LENGTHS = (9, 5, 3, 13)
ENDS = np.cumsum((0, *LENGTHS))
NUMBERS = np.arange(ENDS[-1], dtype=np.float32)


def sequences(size: int = 1):
    return layer.data(name="x", type=data_type.dense_vector_sequence(size))


def rows(*others):
    """The numbers from 0 on, in sequences of the lengths, and what else is fed of each."""
    each = [NUMBERS[a:b, None].tolist() for a, b in pairwise(ENDS)]
    return [(x, *more) for x, *more in zip(each, *others, strict=True)]


def computed(output, given):
    return paddle.infer(output_layer=output, parameters=paddle.parameters.create(output), input=given)


def test_a_sequence_is_pooled_at_strides() -> None:
    x = sequences()
    firsts, lasts = layer.first_seq(x, stride=5), layer.last_seq(x, stride=5)
    total = layer.pooling(x, paddle.pooling.Sum(), stride=5)
    of_each = layer.pooling(total, paddle.pooling.Max())
    first, last, sums, most = computed([firsts, lasts, total, of_each], rows())
    # windows of lengths 9, 5, 3 and 13 are counted from the beginning, for the first elements from the end
    assert first.ravel().tolist() == [0, 4, 9, 14, 17, 20, 25]
    assert last.ravel().tolist() == [4, 8, 13, 16, 21, 26, 29]
    begins = [0, 5, 9, 14, 17, 22, 27, 30]
    expected = [NUMBERS[a:b].sum() for a, b in pairwise(begins)]
    assert sums.ravel().tolist() == expected
    assert most.ravel().tolist() == [max(expected[:2]), expected[2], expected[3], max(expected[4:])]


def test_a_sequence_is_sliced_by_what_is_fed() -> None:
    x = sequences()
    starts = layer.data(name="starts", type=data_type.dense_vector(2))
    ends = layer.data(name="ends", type=data_type.dense_vector(2))
    given = rows([(1, 4), (0, -1), (2, -1), (-1, 0)], [(2, 8), (4, -1), (2, -1), (3, 3)])
    both = layer.seq_slice(x, starts, ends)
    found, length = computed([both, layer.pooling(both, paddle.pooling.Sum())], given)
    assert found.ravel().tolist() == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16]
    assert length.ravel().tolist() == [3, 30, 55, 16]
    tails = layer.last_seq(layer.seq_slice(x, None, ends))
    assert computed(tails, [(one, end) for one, _, end in given]).ravel().tolist() == [2, 8, 13, 16, 20, 20]
    with pytest.raises(FeedError, match="from 3 to 3 can be cut out of sequence 2, which has 3"):
        computed(both, rows([(3, -1)] * 4, [(3, -1)] * 4))


@pytest.mark.parametrize("width", [1, 20], ids=["they count, and name nothing", "wide enough"])
def test_one_piece_of_each_sequence_is_cut_by_ids(width) -> None:
    x = sequences()
    begins, sizes = (
        layer.data(name=name, type=data_type.integer_value_sequence(width)) for name in ("begins", "sizes")
    )
    cut = layer.sub_seq(x, begins, sizes)
    assert re.fullmatch(r"__sub_seq_\d+__", cut.name)
    given = rows([[2], [0], [1], [12]], [[3], [5], [0], [1]])
    assert computed(cut, given).ravel().tolist() == [2, 3, 4, *range(9, 14), 29]
    assert computed(layer.pooling(cut, paddle.pooling.Sum()), given).ravel().tolist() == [9, 55, 0, 29]
    with pytest.raises(FeedError, match="of 2 elements from 2 on"):
        computed(cut, rows([[0], [0], [2], [0]], [[1], [1], [2], [1]]))


def nested():
    return layer.data(name="x", type=data_type.dense_vector_sub_sequence(1))


def test_inner_sequences_are_chosen_and_sliced() -> None:
    words = nested()
    picked = layer.data(name="picked", type=data_type.dense_vector(2))
    chosen = layer.sub_nested_seq(words, picked)
    inner = layer.pooling(chosen, paddle.pooling.Sum(), agg_level=paddle.layer.AggregateLevel.TO_SEQUENCE)
    given = [([[[1], [2]], [[3]], [[4], [5]]], (2, 0)), ([[[6]]], (0, -1))]
    found, sums, firsts = computed([chosen, inner, layer.first_seq(inner)], given)
    assert found.ravel().tolist() == [4, 5, 1, 2, 6]
    assert sums.ravel().tolist() == [9, 3, 6]
    assert firsts.ravel().tolist() == [9, 6]
    ends = layer.data(name="ends", type=data_type.dense_vector_sequence(1))
    heads = layer.seq_slice(words, None, ends)
    given = [([[[1], [2]], [[3]], [[4], [5]]], [(0,), (0,), (-1,)]), ([[[6]]], [(0,)])]
    last = layer.last_seq(heads)
    head, last = computed([heads, last], given)
    assert head.ravel().tolist() == [1, 3, 6]
    assert last.ravel().tolist() == [3, 6]
    with pytest.raises(FeedError, match="3 rows of numbers cut 4 sequences"):
        computed(heads, [(given[0][0], [(0,), (0,)]), given[1]])


def test_the_elements_that_count_most_are_named() -> None:
    scores = sequences()
    best = layer.kmax_seq_score(scores, beam_size=4)
    found = computed(best, [([[0.1], [0.9], [0.5]],), ([[3], [2], [5], [1], [4]],)])
    assert found.tolist() == [[1, 2, 0, -1], [2, 4, 0, 1]]
    cut = layer.seq_slice(scores, best, None)
    assert computed(cut, [([[0.1], [0.9], [0.5]],)]).ravel().tolist() == pytest.approx(
        [0.9, 0.5, 0.5, 0.1, 0.9, 0.5]
    )


def test_elements_are_cut_anew() -> None:
    x = layer.data(name="x", type=data_type.dense_vector_sequence(4))
    made = layer.seq_reshape(x, 2)
    given = [(NUMBERS[:12].reshape(3, 4).tolist(),), (NUMBERS[12:16].reshape(1, 4).tolist(),)]
    found, last = computed([made, layer.last_seq(made)], given)
    assert found.tolist() == NUMBERS[:16].reshape(8, 2).tolist()
    assert last.tolist() == [[10, 11], [14, 15]]
    again = layer.last_seq(layer.seq_reshape(x, 3))
    with pytest.raises(FeedError, match="rows of 4 cannot become rows of 3"):
        computed(again, [(NUMBERS[:4].reshape(1, 4).tolist(),), (NUMBERS[:8].reshape(2, 4).tolist(),)])


def test_models_over_pieces_learn() -> None:
    x = layer.data(name="x", type=data_type.dense_vector_sequence(3))
    ends = layer.data(name="ends", type=data_type.dense_vector(1))
    hidden = layer.fc(input=x, size=4)
    head = layer.last_seq(layer.seq_slice(hidden, None, ends))
    windows = layer.first_seq(layer.pooling(hidden, paddle.pooling.Avg(), stride=2))
    label = layer.data(name="label", type=data_type.integer_value(2))
    said = layer.fc([head, windows], size=2, act=paddle.activation.Softmax())
    cost = layer.classification_cost(said, label)
    rng, given = np.random.default_rng(3), []
    for number in range(24):
        length = int(rng.integers(1, 6))
        given.append((rng.normal(number % 2, 0.3, (length, 3)).tolist(), (length - 1,), number % 2))
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Adam(learning_rate=0.05)
    )
    costs = []
    trainer.train(
        paddle.batch(lambda: iter(given), 8),
        num_passes=12,
        event_handler=lambda e: costs.append(e.cost) if isinstance(e, paddle.event.EndIteration) else None,
    )
    assert costs[-1] < 0.5 * costs[0]


def test_where_pieces_begin_is_not_learned() -> None:
    x = layer.data(name="x", type=data_type.dense_vector_sequence(3))
    best = layer.kmax_seq_score(layer.fc(layer.fc(x, size=2), size=1), beam_size=1)
    with pytest.raises(
        ShapeError, match=r"follows from the parameters (\w+\.\w+, ){2}\w+\.\w+ and 1 more: it"
    ):
        computed(layer.seq_slice(x, best, None), [([[1, 2, 3]],)])
