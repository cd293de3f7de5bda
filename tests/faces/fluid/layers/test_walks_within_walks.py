"""DynamicRNN over sequences of sequences: what it gives are sequences, and another one may walk within."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

layers = fluid.layers
PARTS = [[3, 2], [4]]  # of each paragraph the words of its sentences
ASKED = [[2, 1], [3]]


def paragraphs(name: str, lengths: list[list[int]], seed: int) -> tuple[Any, Any, np.ndarray]:
    rows = np.random.default_rng(seed).normal(size=(sum(map(sum, lengths)), 3)).astype(np.float32)
    levels = [[len(each) for each in lengths], [n for each in lengths for n in each]]
    data = layers.data(name, [3], lod_level=2, stop_gradient=False)
    return data, fluid.create_lod_tensor(rows, levels, None), rows


def test_a_walk_over_sentences_gives_sentences() -> None:
    x, fed, rows = paragraphs("x", PARTS, 1)
    walk = layers.DynamicRNN()
    with walk.block():
        sentence = walk.step_input(x)
        walk.output(layers.scale(sentence, 2.0), layers.sequence_pool(sentence, "sum"))
    words, sums = walk()
    fetch = [words, sums, layers.sequence_pool(words, "sum")]
    found = fluid.Executor().run(feed={"x": fed}, fetch_list=fetch, return_numpy=False)
    levels = [each.recursive_sequence_lengths() for each in found]
    assert levels == [[[2, 1], [3, 2, 4]], [[2, 1]], [[2, 1]]]  # as 1.8.5 gives
    np.testing.assert_allclose(np.array(found[0]), rows * 2)
    np.testing.assert_allclose(np.array(found[2]), np.array(found[1]) * 2, rtol=1e-5)


def test_a_walk_along_the_words_of_a_sentence_sees_all_words_of_another() -> None:
    (x, fed, rows), (y, asked, others) = paragraphs("x", PARTS, 1), paragraphs("y", ASKED, 2)
    walk = layers.DynamicRNN()
    with walk.block():
        sentence, question = layers.tanh(walk.step_input(x)), walk.step_input(y)
        within = layers.DynamicRNN()
        with within.block():
            word, all_words = within.step_input(sentence), within.static_input(question)
            products = layers.elementwise_mul(all_words, layers.sequence_expand(word, all_words))
            scores = layers.sequence_softmax(layers.reduce_sum(products, dim=1, keep_dim=True))
            seen = layers.sequence_pool(layers.elementwise_mul(all_words, scores, axis=0), "sum")
            within.output(seen, layers.sequence_pool(scores, "max"))
        seen, most = within()
        weight = layers.sequence_softmax(most)
        walk.output(layers.elementwise_mul(seen, weight, axis=0))
    loss = layers.reduce_sum(layers.square(walk()))
    (slope,) = fluid.gradients(loss, x)
    exe = fluid.Executor()
    given = exe.run(feed={"x": fed, "y": asked}, fetch_list=[loss, slope], return_numpy=False)
    found, slopes = map(np.array, given)
    assert found.item() == pytest.approx(attended(rows, others), rel=1e-5)
    for row, column in ((0, 0), (4, 1), (8, 2)):
        at = [attended(rows + step * _one(rows, row, column), others) for step in (1e-3, -1e-3)]
        assert slopes[row, column] == pytest.approx((at[0] - at[1]) / 2e-3, rel=1e-2, abs=1e-4)


def _one(rows: np.ndarray, row: int, column: int) -> np.ndarray:
    made = np.zeros(rows.shape)
    made[row, column] = 1
    return made


def attended(rows: np.ndarray, others: np.ndarray) -> float:
    """The loss of the test before, in numpy."""
    total = 0.0
    for words, asked in zip(_cut(np.tanh(rows), PARTS), _cut(others, ASKED), strict=True):
        scores = [_softmax(asked @ word) for word in words]
        weight = _softmax(np.array([each.max() for each in scores]))
        total += sum(np.square(w * (s @ asked)).sum() for w, s in zip(weight, scores, strict=True))
    return total


def _cut(rows: np.ndarray, lengths: list[list[int]]) -> list[np.ndarray]:
    return np.split(rows, np.cumsum([n for each in lengths for n in each])[:-1])


def _softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()
