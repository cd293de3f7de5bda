"""Sequences to sequences in v2, as in the book: an encoder, a decoder that attends to it, and its search."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle.v2 import config_base

layer, networks = paddle.layer, paddle.networks
WORDS, BEGIN, END = 9, 0, 1


def encoded(size: int):
    source = layer.data(name="source", type=paddle.data_type.integer_value_sequence(WORDS))
    vectors = layer.embedding(input=source, size=size)
    forward = networks.simple_gru(input=vectors, size=size)
    backward = networks.simple_gru(input=vectors, size=size, reverse=True)
    both = layer.concat(input=[forward, backward])
    linear = paddle.activation.Linear()
    projected = layer.fc(input=both, size=size, act=linear, bias_attr=False)
    boot = layer.fc(input=layer.first_seq(backward), size=size, act=paddle.activation.Tanh(), bias_attr=False)
    return both, projected, boot


def translation(size: int, is_generating: bool, **search):
    """The book's network: its cost, or what it generates."""
    both, projected, boot = encoded(size)

    def decoder(enc_vec, enc_proj, word):
        former = layer.memory(name="gru_decoder", size=size, boot_layer=boot)
        context = networks.simple_attention(
            encoded_sequence=enc_vec, encoded_proj=enc_proj, decoder_state=former
        )
        reached = layer.fc(
            input=[context, word],
            size=3 * size,
            act=paddle.activation.Linear(),
            bias_attr=False,
            layer_attr=paddle.attr.ExtraLayerAttribute(error_clipping_threshold=100.0),
        )
        state = layer.gru_step(name="gru_decoder", input=reached, output_mem=former, size=size)
        return layer.fc(input=state, size=WORDS, bias_attr=True, act=paddle.activation.Softmax())

    inputs = [layer.StaticInput(input=both), layer.StaticInput(input=projected)]
    if is_generating:
        inputs.append(layer.GeneratedInput(size=WORDS, embedding_name="target_table", embedding_size=size))
        return layer.beam_search(
            name="decoder", step=decoder, input=inputs, bos_id=BEGIN, eos_id=END, **search
        )
    target = layer.data(name="target", type=paddle.data_type.integer_value_sequence(WORDS))
    table = paddle.attr.ParamAttr(name="target_table")
    inputs.append(layer.embedding(input=target, size=size, param_attr=table))
    said = layer.recurrent_group(name="decoder", step=decoder, input=inputs)
    next = layer.data(name="next", type=paddle.data_type.integer_value_sequence(WORDS))
    return said, layer.classification_cost(input=said, label=next)


def as_in_a_new_process() -> None:
    config_base._names_given.clear()


def sample(rng) -> tuple[list[int], list[int], list[int]]:
    """A sentence, and it from its end to its beginning."""
    words = rng.integers(2, WORDS, rng.integers(1, 4)).tolist()
    return words, [BEGIN, *words[::-1]], [*words[::-1], END]


def sentences(ids: np.ndarray) -> list[list[int]]:
    """What the book reads out of ids: each of a length, its words and -1."""
    found: list[list[int]] = [[]]
    for word in ids.tolist():
        if word == -1:
            found.append([])
        else:
            found[-1].append(word)
    assert found.pop() == []
    assert [len(each) - 1 for each in found] == [each[0] for each in found]
    return [each[1:] for each in found]


def test_a_translation_is_learned_and_then_generated() -> None:
    rng = np.random.default_rng(5)
    rows = [sample(rng) for _ in range(240)]
    _, cost = translation(16, is_generating=False)
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=0.03))
    costs = []
    trainer.train(
        paddle.batch(lambda: iter(rows), 24),
        num_passes=16,
        event_handler=lambda e: costs.append(e.cost) if isinstance(e, paddle.event.EndIteration) else None,
    )
    assert np.mean(costs[-10:]) < 0.2 * np.mean(costs[:3])
    as_in_a_new_process()
    words = translation(16, is_generating=True, beam_size=3, max_length=8)
    probs, ids = paddle.infer(
        output_layer=words, parameters=parameters, input=[row[:1] for row in rows[:40]], field=["prob", "id"]
    )
    assert probs.shape == (40, 3)
    assert (np.diff(probs) <= 0).all()
    best = sentences(ids)[::3]
    right = [found == row[2] for found, row in zip(best, rows[:40], strict=True)]
    assert np.mean(right) > 0.8


def drawn(size: int = 5):
    """The network that trains, with parameters that say something, and the one that generates."""
    said, cost = translation(size, is_generating=False)
    parameters = paddle.parameters.create(cost)
    rng = np.random.default_rng(8)
    for name in parameters.keys():  # noqa: SIM118
        parameters[name] = rng.normal(0, 1, parameters[name].shape)
    return said, parameters


def test_a_search_that_holds_all_finds_what_the_trained_step_finds_most_probable() -> None:
    said, parameters = drawn()
    paths = [
        path
        for length in (1, 2)
        for path in product(range(WORDS), repeat=length)
        if END not in path[:-1] and (path[-1] == END or length == 2)
    ]
    source = [4, 2, 7]
    rows = [(source, [BEGIN, *path[:-1]]) for path in paths]
    probabilities = paddle.infer(
        output_layer=said, parameters=parameters, input=rows, feeding={"source": 0, "target": 1}
    )
    flat = iter(np.log(probabilities))
    scores = {path: sum(next(flat)[word] for word in path) for path in paths}
    best = sorted(paths, key=lambda path: -scores[path])[:4]
    as_in_a_new_process()
    words = translation(5, is_generating=True, beam_size=9, max_length=2, num_results_per_sample=4)
    probs, ids = paddle.infer(
        output_layer=words, parameters=parameters, input=[([3],), (source,)], field=["prob", "id"]
    )
    assert [tuple(each) for each in sentences(ids)[4:]] == best
    np.testing.assert_allclose(probs[1], [scores[path] for path in best], rtol=1e-4)


def test_one_result_is_its_words_alone_and_a_saved_network_finds_the_same() -> None:
    _, parameters = drawn()
    as_in_a_new_process()
    words = translation(5, is_generating=True, beam_size=1, max_length=6)
    rows = [([2, 3],), ([5],)]
    ids = paddle.infer(output_layer=words, parameters=parameters, input=rows, field="id")
    assert -1 not in ids
    file = io.BytesIO()
    paddle.topology.Topology(words).serialize_for_inference(file)
    file.seek(0)
    again = paddle.inference.Inference(parameters, fileobj=file)
    np.testing.assert_array_equal(again.infer(rows, field="id"), ids)
    as_in_a_new_process()
    several = translation(5, is_generating=True, beam_size=2, max_length=6, num_results_per_sample=2)
    found = paddle.infer(output_layer=several, parameters=parameters, input=rows, field="id")
    assert len(sentences(found)) == 4


def test_what_no_search_can_be_made_of_is_refused() -> None:
    both, _, _ = encoded(4)
    generated = layer.GeneratedInput(size=WORDS, embedding_name="table", embedding_size=4)

    def search(inputs):
        return layer.beam_search(lambda *seen: seen[-1], inputs, bos_id=0, eos_id=1, beam_size=2)

    with pytest.raises(TypeError, match="sees StaticInput and GeneratedInput"):
        search([both, generated])
    static = layer.StaticInput(both)
    for inputs in ([generated], [7, generated], [static], [static, generated, generated]):
        with pytest.raises(ValueError, match="one GeneratedInput, and one StaticInput"):
            search(inputs)


def test_an_id_that_ends_a_sequence_is_found() -> None:
    words = layer.data(name="words", type=paddle.data_type.integer_value_sequence(WORDS))
    found = paddle.infer(
        output_layer=layer.eos(words, eos_id=END),
        parameters=paddle.parameters.create(layer.embedding(words, 2)),
        input=[([3, END],), ([END, END, 4],)],
        field="id",
    )
    assert found.tolist() == [0, 1, 1, 1, 0]
