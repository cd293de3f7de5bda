"""Sequences in v2: what layers over them compute, how they are fed, and that models of them learn."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease
from paddle._engine.errors import FeedError

SENTENCES = [([3, 1, 4], 1), ([1], 0), ([5, 2], 1)]
WORDS = 6


def value_of(output, rows, parameters=None):
    parameters = parameters or paddle.parameters.create(output)
    return paddle.infer(output_layer=output, parameters=parameters, input=rows), parameters


def embedded(size=4):
    words = paddle.layer.data(name="words", type=paddle.data_type.integer_value_sequence(WORDS))
    return paddle.layer.embedding(input=words, size=size, param_attr=paddle.attr.Param(name="table"))


def sentences():
    return [(words,) for words, _ in SENTENCES]


@pytest.mark.parametrize(
    ("pooling", "by"),
    [
        (None, lambda x: x.max(0)),
        (paddle.pooling.Avg(), lambda x: x.mean(0)),
        (paddle.pooling.Sum(), lambda x: x.sum(0)),
        (paddle.pooling.SquareRootN(), lambda x: x.sum(0) / len(x) ** 0.5),
    ],
)
def test_a_sequence_is_pooled(pooling, by) -> None:
    found, parameters = value_of(paddle.layer.pooling(embedded(), pooling), sentences())
    expected = [by(parameters["table"][words]) for words, _ in SENTENCES]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_places_of_the_greatest_are_numbers_of_rows_of_the_batch() -> None:
    places = paddle.pooling.Max(output_max_index=True)
    found, parameters = value_of(paddle.layer.pooling(embedded(), places), sentences())
    begins = np.cumsum([0, *(len(words) for words, _ in SENTENCES)])
    expected = [
        begin + parameters["table"][words].argmax(0)
        for begin, (words, _) in zip(begins, SENTENCES, strict=False)
    ]
    np.testing.assert_array_equal(found, expected)


def test_places_in_the_rows_of_a_moment_are_refused() -> None:
    texts = paddle.layer.data(name="texts", type=paddle.data_type.dense_vector_sub_sequence(2))
    places = paddle.pooling.Max(output_max_index=True)
    group = paddle.layer.recurrent_group(step=lambda text: paddle.layer.pooling(text, places), input=texts)
    with pytest.raises(NotInThisRelease, match="is not in this release inside of recurrent groups"):
        paddle.infer(group, paddle.parameters.create(group), [([[[1, 2]]],)])


def test_the_first_and_the_last_are_taken_and_given_to_all() -> None:
    words = embedded()
    last = paddle.layer.expand(input=paddle.layer.last_seq(words), expand_as=words)
    found, parameters = value_of([paddle.layer.first_seq(words), last], sentences())
    table = parameters["table"]
    np.testing.assert_array_equal(found[0], table[[3, 1, 5]])
    np.testing.assert_array_equal(found[1], table[[4, 4, 4, 1, 2, 2]])


def test_of_a_nested_sequence_each_inner_one_or_all_become_one() -> None:
    words = paddle.layer.data(name="words", type=paddle.data_type.integer_value_sub_sequence(WORDS))
    table = paddle.layer.embedding(input=words, size=4, param_attr=paddle.attr.Param(name="table"))
    each = paddle.layer.pooling(
        table, paddle.pooling.Sum(), agg_level=paddle.layer.AggregateLevel.TO_SEQUENCE
    )
    outputs = [paddle.layer.last_seq(each), paddle.layer.pooling(table, paddle.pooling.Sum())]
    rows = [([[3, 1], [4]],), ([[5]],)]
    (last, whole), parameters = value_of(outputs, rows)
    np.testing.assert_array_equal(last, parameters["table"][[4, 5]])
    np.testing.assert_allclose(whole[0], parameters["table"][[3, 1, 4]].sum(0), rtol=1e-6)


def test_a_window_sees_zeros_outside_a_sentence_or_what_was_learned() -> None:
    words = embedded(2)
    window = paddle.layer.context_projection
    plain = paddle.layer.mixed(size=6, input=window(words, 3, padding_attr=False))
    by_default = paddle.layer.mixed(size=6, input=window(words, 3), name="by_default")
    padding = paddle.attr.Param(name="padding", initial_std=1.0)
    learned = paddle.layer.mixed(size=6, input=window(words, 3, padding_attr=padding))
    (plain_rows, learned_rows, first_rows), parameters = value_of([plain, learned, by_default], sentences())
    assert parameters.get_shape("_by_default.w0") == (2, 2) and not parameters["_by_default.w0"].any()
    np.testing.assert_array_equal(first_rows, plain_rows)
    table, beyond = parameters["table"], parameters["padding"]
    np.testing.assert_array_equal(plain_rows[3], [0, 0, *table[1], 0, 0])
    np.testing.assert_array_equal(plain_rows[1], [*table[3], *table[1], *table[4]])
    np.testing.assert_array_equal(learned_rows[3], [*beyond[0], *table[1], *beyond[1]])


def test_a_softmax_is_over_the_elements_of_each_sequence() -> None:
    weights = paddle.layer.fc(embedded(), size=1, act=paddle.activation.SequenceSoftmax(), bias_attr=False)
    found, _ = value_of(weights, sentences())
    np.testing.assert_allclose([found[:3].sum(), found[3].sum(), found[4:].sum()], [1, 1, 1], rtol=1e-6)


@pytest.mark.parametrize("network", ["simple_lstm", "simple_gru2", "bidirectional_lstm", "bidirectional_gru"])
def test_what_remembers_says_the_same_of_a_sentence_alone_and_among_others(network) -> None:
    said = getattr(paddle.networks, network)(embedded(), size=3)
    output = said if "bidirectional" in network else paddle.layer.last_seq(said)
    together, parameters = value_of(output, sentences())
    alone = [value_of(output, [row], parameters)[0][0] for row in sentences()]
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-7)
    assert np.ptp(together, axis=0).min() > 0


@pytest.mark.parametrize(("write", "gates"), [("lstmemory", 4), ("grumemory", 3)])
def test_what_remembers_drops_of_what_it_says_but_remembers_all(write, gates) -> None:
    rows = paddle.data_type.dense_vector_sequence(4 * gates)

    def seen(**attributes):
        name = paddle.attr.Param(name="w", initial_std=0.5)
        x = paddle.layer.data(name="x", type=rows)
        remember = getattr(paddle.layer, write)
        return remember(input=x, bias_attr=False, param_attr=name, name="seen", **attributes)

    given = [(np.linspace(-1, 1, 6 * 4 * gates).reshape(6, -1),)]
    dropped = seen(layer_attr=paddle.attr.Extra(drop_rate=0.25))
    cost = paddle.layer.sum_cost(paddle.layer.fc(dropped, size=1))
    parameters = paddle.parameters.create(cost)
    (all_of_it, lessened), gave = (paddle.infer(each, parameters, given) for each in (seen(), dropped)), []

    def handler(event) -> None:
        if isinstance(event, paddle.event.EndIteration):
            gave.append(event.gm.getLayerOutputs(["seen"])["seen"]["value"])

    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.0))
    trainer.train(lambda: iter([given]), event_handler=handler)
    np.testing.assert_allclose(lessened, 0.75 * all_of_it, rtol=1e-5)
    kept = gave[0] != 0
    assert 0 < kept.sum() < kept.size
    np.testing.assert_allclose(gave[0][kept], all_of_it[kept], rtol=1e-5)


def test_parameters_of_what_remembers_are_the_originals() -> None:
    paddle.networks.simple_lstm(embedded(), size=3, name="m")
    parameters = paddle.parameters.create(paddle.networks.simple_lstm(embedded(), size=3, name="n"))
    shapes = {name: parameters.get_shape(name) for name in parameters.names()}
    assert shapes["_lstm_transform_n.w0"] == (4, 12)
    assert shapes["_n.w0"] == (3, 3, 4)
    assert shapes["_n.wbias"] == (1, 21)


def planted(rng, count):
    """A sentence is of class 1 where word 1 stands in it anywhere after word 0."""
    for _ in range(count):
        words = rng.integers(0, WORDS, rng.integers(2, 9)).tolist()
        yield words, int(0 in words and 1 in words[words.index(0) :])


@pytest.mark.parametrize("network", ["simple_lstm", "sequence_conv_pool"])
def test_a_classifier_of_sentences_learns(network) -> None:
    paddle.init(seed=1)
    words = paddle.layer.data(name="words", type=paddle.data_type.integer_value_sequence(WORDS))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(2))
    table = paddle.layer.embedding(input=words, size=8)
    if network == "simple_lstm":
        seen = paddle.layer.last_seq(paddle.networks.simple_lstm(table, size=16))
    else:
        seen = paddle.networks.sequence_conv_pool(table, context_len=8, hidden_size=32)
    output = paddle.layer.fc(seen, size=2, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=output, label=label)
    rng = np.random.default_rng(3)
    samples, held = list(planted(rng, 800)), list(planted(rng, 200))
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Adam(learning_rate=0.01)
    )
    trainer.train(paddle.batch(lambda: iter(samples), 32), num_passes=6)
    result = trainer.test(paddle.batch(lambda: iter(held), 50))
    assert result.metrics["classification_error_evaluator"] < 0.1


def test_a_cost_of_every_word_is_summed_over_a_sentence_and_its_error_is_per_word() -> None:
    words = embedded()
    tags = paddle.layer.data(name="tags", type=paddle.data_type.integer_value_sequence(3))
    output = paddle.layer.fc(words, size=3, act=paddle.activation.Softmax(), bias_attr=False)
    cost = paddle.layer.classification_cost(input=output, label=tags)
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.0))
    rows = [([3, 1, 4], [0, 1, 2]), ([1], [2])]
    result = trainer.test(lambda: iter([rows]))
    probabilities, _ = value_of(output, [row[:1] for row in rows], parameters)
    labels = [0, 1, 2, 2]
    costs = -np.log(probabilities[range(4), labels])
    assert result.cost == pytest.approx(costs.sum() / 2, rel=1e-5)
    error = result.metrics["classification_error_evaluator"]
    assert error == pytest.approx(np.mean(probabilities.argmax(1) != labels))


def test_costs_of_words_and_of_sentences_are_summed_together() -> None:
    kinds = (paddle.data_type.integer_value_sequence(9), paddle.data_type.integer_value_sequence(3))
    words, tags = (paddle.layer.data(name=n, type=kind) for n, kind in zip(("w", "tags"), kinds, strict=True))
    target = paddle.layer.data(name="target", type=paddle.data_type.dense_vector(4))
    seen = paddle.layer.embedding(input=words, size=4, param_attr=paddle.attr.Param(name="table"))
    said = paddle.layer.fc(input=seen, size=3, act=paddle.activation.Softmax(), bias_attr=False)
    of_words = paddle.layer.cross_entropy_cost(input=said, label=tags)
    of_sentences = paddle.layer.square_error_cost(
        input=paddle.layer.last_seq(input=seen), label=target, coeff=0.5
    )
    parameters = paddle.parameters.create([of_words, of_sentences])
    rows = [([1, 2, 3], [0, 2, 1], np.ones(4)), ([4], [1], np.zeros(4))]

    def trained(cost, feeding):
        found = []

        def handler(event):
            if isinstance(event, paddle.event.EndIteration):
                found.append((event.cost, parameters.get_grad("table")))

        still = paddle.optimizer.Momentum(learning_rate=0.0)
        trainer = paddle.trainer.SGD(cost, parameters, still)
        trainer.train(lambda: iter([rows]), feeding=feeding, event_handler=handler)
        return *found[0], trainer.test(lambda: iter([rows]), feeding=feeding).cost

    both = trained([of_words, of_sentences], {"w": 0, "tags": 1, "target": 2})
    each = trained(of_words, {"w": 0, "tags": 1}), trained(of_sentences, {"w": 0, "target": 2})
    for found, *parts in zip(both, *each, strict=True):
        np.testing.assert_allclose(found, sum(parts), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ((3,), "a sequence is needed, a list of elements"),
        (([1, WORDS],), "it is not from 0 to 5"),
        (("ab",), "a sequence is needed"),
    ],
)
def test_what_is_no_sequence_is_refused(row, says) -> None:
    with pytest.raises(FeedError, match=says):
        value_of(paddle.layer.last_seq(embedded()), [([1, 2],), row])


def test_a_layer_over_sequences_says_what_gives_none() -> None:
    word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(WORDS))
    last = paddle.layer.last_seq(paddle.layer.embedding(input=word, size=2))
    with pytest.raises(ValueError, match="works on sequences, and '__embedding_0__' gives none"):
        value_of(last, [(1,)])
