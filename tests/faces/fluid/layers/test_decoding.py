"""Decoders step by step, against numpy and against all sentences that there are.

Beforehand all of it was held to the wheel of 1.8.5, and models trained here were decoded there.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import paddle.fluid as fluid

from ..numeric import assert_gradients

layers = fluid.layers
N, SIZE, WORDS, END = 2, 3, 4, 2
H = np.random.default_rng(8).normal(size=(N, SIZE)).astype(np.float32)
DRAWN = fluid.initializer.Uniform(-1.5, 1.5, seed=4)


class Cell(layers.RNNCell):
    """h = tanh(x @ v + h @ u)."""

    def call(self, inputs: Any, states: Any, **others: Any) -> Any:
        told = [
            layers.fc(each, SIZE, param_attr=fluid.ParamAttr(name, DRAWN), bias_attr=False)
            for each, name in ((inputs, "v"), (states, "u"))
        ]
        after = layers.tanh(told[0] + told[1])
        return after, after


def read(words: Any) -> Any:
    return fluid.embedding(words, [WORDS, SIZE], param_attr=fluid.ParamAttr("e", DRAWN))


def said(rows: Any) -> Any:
    attr = fluid.ParamAttr("o", DRAWN)
    return layers.fc(rows, WORDS, num_flatten_dims=len(rows.shape) - 1, param_attr=attr, bias_attr=False)


def weights(name: str) -> np.ndarray:
    return np.array(fluid.global_scope().find_var(name).get_tensor()).astype(np.float64)


def stepped(state: np.ndarray, words: Any) -> tuple[np.ndarray, np.ndarray]:
    """The next state, and the logarithms of what each word is likely."""
    after = np.tanh(weights("e")[words] @ weights("v") + state @ weights("u"))
    logits = after @ weights("o")
    return after, logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def computed(feed: dict[str, np.ndarray], *outs: Any) -> list[np.ndarray]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found: list[np.ndarray] = exe.run(feed=feed, fetch_list=[*outs])
    return found


def test_the_most_likely_words_are_read_again_until_all_have_ended() -> None:
    h, first = fluid.data("h", [None, SIZE]), fluid.data("w", [None], "int64")
    decoder = layers.BasicDecoder(Cell(), layers.GreedyEmbeddingHelper(read, first, END), said)
    outputs, last, lengths = layers.dynamic_decode(decoder, h, max_step_num=4, return_length=True)
    start = np.array([1, 3])
    words, state, ends = computed({"h": H, "w": start}, outputs.sample_ids, last, lengths)
    wanted, reads = H.astype(np.float64), start
    for moment in range(words.shape[1]):
        wanted, chances = stepped(wanted, reads)
        reads = chances.argmax(-1)
        np.testing.assert_array_equal(words[:, moment], reads)
    np.testing.assert_allclose(state, wanted, rtol=1e-4)
    ended = [[*row, END].index(END) + 1 for row in words.tolist()]
    assert ends.tolist() == np.minimum(ended, words.shape[1]).tolist()
    assert words.shape[1] == min(max(ended), 5)


def test_a_beam_that_is_wide_enough_finds_the_best_of_all_sentences() -> None:
    h = fluid.data("h", [None, SIZE])
    decoder = layers.BeamSearchDecoder(Cell(), 0, END, 12, read, said)
    words, last = layers.dynamic_decode(decoder, h, max_step_num=2)
    sentences, scores, lengths = computed({"h": H}, words, last.log_probs, last.lengths)
    assert sentences.shape == (N, 3, 12)
    for row in range(N):
        wanted = best(H[row].astype(np.float64), 3)
        for beam in range(4):
            sentence, score = wanted[beam]
            assert tuple(sentences[row, :, beam]) == sentence
            np.testing.assert_allclose(scores[row, beam], score, rtol=1e-4)
            assert lengths[row, beam] == [*sentence, END].index(END) + (END in sentence)


def best(state: np.ndarray, length: int) -> list[tuple[tuple[int, ...], float]]:
    """Sentences, the best one first; what has ended goes on with its end alone."""
    found = {}
    for sentence in product(range(WORDS), repeat=length):
        score, now, before = 0.0, state, 0
        for word in sentence:
            if before == END and word != END:
                break
            if before != END:
                now, chances = stepped(now, before)
                score += float(chances[word])
            before = word
        else:
            found[sentence] = score
    return sorted(found.items(), key=lambda each: -each[1])


def taught() -> Any:
    h, x = fluid.data("h", [None, SIZE]), fluid.data("x", [None, None, SIZE])
    helper = layers.TrainingHelper(x, fluid.data("n", [None], "int64"))
    return layers.dynamic_decode(layers.BasicDecoder(Cell(), helper, said), h, impute_finished=True)


def loss_of() -> Any:
    outputs, last = taught()
    return layers.mean(layers.square(outputs.cell_outputs)) + layers.mean(last)


def test_training_reads_what_is_right_and_gradients_go_through_all_steps() -> None:
    _, last = taught()
    given = np.random.default_rng(2).normal(size=(N, 3, SIZE)).astype(np.float32)
    feed = {"h": H, "x": given, "n": np.array([3, 1])}
    (state,) = computed(feed, last)
    wanted = H.astype(np.float64)
    for moment in range(3):
        after = np.tanh(given[:, moment] @ weights("v") + wanted @ weights("u"))
        wanted = np.where(np.array([[True], [moment < 1]]), after, wanted)
    np.testing.assert_allclose(state, wanted, rtol=1e-4)
    assert_gradients(loss_of, feed, ["o", "u", "v"])


def test_words_are_drawn_by_what_is_likely() -> None:
    h, first = fluid.data("h", [None, SIZE]), fluid.data("w", [None], "int64")
    helper = layers.SampleEmbeddingHelper(read, first, END, softmax_temperature=1e-4, seed=3)
    drawn, _ = layers.dynamic_decode(layers.BasicDecoder(Cell(), helper, said), h, max_step_num=3)
    greedy = layers.GreedyEmbeddingHelper(read, first, END)
    best, _ = layers.dynamic_decode(layers.BasicDecoder(Cell(), greedy, said), h, max_step_num=3)
    ids, wanted = computed({"h": H, "w": np.array([1, 3])}, drawn.sample_ids, best.sample_ids)
    np.testing.assert_array_equal(ids, wanted)


def test_a_tree_is_read_from_its_leaves() -> None:
    ids = fluid.data("a", [None, 1, 2], "int64")
    parents = fluid.data("b", [None, 1, 2], "int64")
    feed = {"a": np.array([[[1, 2]], [[3, 4]], [[5, 6]]]), "b": np.array([[[0, 0]], [[1, 0]], [[1, 0]]])}
    (found,) = computed(feed, layers.gather_tree(ids, parents))
    assert found[:, 0].T.tolist() == [[1, 4, 5], [2, 3, 6]]


def test_rows_are_tiled_beside_each_other() -> None:
    x = fluid.data("x", [None, None, 2])
    given = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    (found,) = computed({"x": given}, layers.BeamSearchDecoder.tile_beam_merge_with_batch(x, 2))
    np.testing.assert_array_equal(found, np.repeat(given, 2, axis=0))
