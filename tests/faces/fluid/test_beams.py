"""Beam search in fluid: the best ways on, those that have ended, and sentences read back from the steps."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import row
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, LoDTensorArray

layers = fluid.layers
END = 0


def tensor(array, lod):
    return LoDTensor(np.asarray(array), lod)


def searched(pre_ids, pre_scores, ids, scores, lod, **attrs):
    pre = layers.data("pre_ids", [1], dtype="int64", lod_level=2)
    before = layers.data("pre_scores", [1], lod_level=2)
    words = layers.data("ids", [2], dtype="int64", lod_level=2)
    found = layers.data("scores", [2], lod_level=2)
    given = {"beam_size": 2, "end_id": END, "return_parent_idx": True} | attrs
    chosen = layers.beam_search(pre, before, words, found, **given)
    feed = {
        "pre_ids": tensor(np.array(pre_ids)[:, None], lod),
        "pre_scores": tensor(np.array(pre_scores, np.float32)[:, None], lod),
        "ids": tensor(ids, lod),
        "scores": tensor(np.array(scores, np.float32), lod),
    }
    return fluid.Executor().run(feed=feed, fetch_list=list(chosen), return_numpy=False)


def test_the_best_ways_on_are_chosen_for_each_sentence() -> None:
    lod = [[0, 2, 4], [0, 1, 2, 3, 4]]
    ids = [[4, 2], [5, 3], [3, 1], [8, 2]]
    scores = [[0.5, 0.3], [0.9, 0.6], [0.7, 0.5], [0.4, 0.3]]
    words, found, parents = searched([1, 2, 3, 4], [0.1] * 4, ids, scores, lod)
    assert np.array(words).ravel().tolist() == [5, 3, 3, 1]
    np.testing.assert_allclose(np.array(found).ravel(), [0.9, 0.6, 0.7, 0.5])
    assert words.lod() == found.lod() == [[0, 2, 4], [0, 0, 2, 4, 4]]
    assert np.array(parents).tolist() == [1, 1, 2, 2]


def test_what_has_ended_stays_and_a_sentence_of_ends_is_over() -> None:
    lod = [[0, 2, 3], [0, 1, 2, 3]]
    ids, scores = [[4, 2], [5, 3], [6, 7]], [[0.5, 0.3], [0.9, 0.6], [0.7, 0.5]]
    words, found, _ = searched([END, 2, END], [0.8, 0.1, 0.2], ids, scores, lod)
    assert np.array(words).ravel().tolist() == [END, 5]
    np.testing.assert_allclose(np.array(found).ravel(), [0.8, 0.9])
    assert words.lod() == [[0, 2, 3], [0, 1, 2, 2]]


def test_scores_may_be_probabilities_of_one_word() -> None:
    words, found, _ = searched([1], [-1.0], [[4, 2]], [[0.5, 0.25]], [[0, 1], [0, 1]], is_accumulated=False)
    np.testing.assert_allclose(np.array(found).ravel(), np.log([0.5, 0.25]) - 1, rtol=1e-6)
    assert np.array(words).ravel().tolist() == [4, 2]


def test_candidates_may_be_all_words() -> None:
    before = layers.data("before", [1], dtype="int64", lod_level=2)
    so_far = layers.data("so_far", [1], lod_level=2)
    shares = layers.data("shares", [5], lod_level=2)
    words, _ = layers.beam_search(before, so_far, None, shares, 2, END, is_accumulated=False)
    lod = [[0, 1], [0, 1]]
    feed = {"before": tensor([[1]], lod), "so_far": tensor(np.zeros((1, 1), np.float32), lod)}
    feed["shares"] = tensor(np.array([[0.1, 0.2, 0.4, 0.0, 0.3]], np.float32), lod)
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[words], return_numpy=False)
    assert np.array(found).ravel().tolist() == [2, 4]


def test_scores_need_two_levels() -> None:
    with pytest.raises(BadProgram, match="needs scores with 2 levels"):
        pre = layers.data("pre", [1], dtype="int64", lod_level=1)
        scores = layers.data("s", [2], lod_level=1)
        words, _ = layers.beam_search(pre, scores, None, scores, 2, END)
        given = {"pre": tensor([[1]], [[0, 1]]), "s": tensor(np.ones((1, 2), np.float32), [[0, 1]])}
        fluid.Executor().run(feed=given, fetch_list=[words])


def test_sentences_are_read_back_best_first() -> None:
    steps = [
        ([1, 1], [0.0, 0.0], [[0, 1, 2], [0, 1, 2]]),
        ([3, 4, 5], [0.5, 0.4, 0.9], [[0, 1, 2], [0, 2, 3]]),
        ([END, 6, END], [0.6, 0.7, 1.0], [[0, 2, 3], [0, 1, 2, 3]]),
        ([END, 7], [0.6, 0.8], [[0, 2, 3], [0, 1, 2, 2]]),
    ]
    ids, scores = LoDTensorArray(), LoDTensorArray()
    for words, found, lod in steps:
        ids.append(tensor(np.array(words)[:, None], lod))
        scores.append(tensor(np.array(found, np.float32)[:, None], lod))
    block = fluid.default_main_program().global_block()
    for name in ("ids", "scores"):
        block.create_var(name, type=fluid.core.VarDesc.VarType.LOD_TENSOR_ARRAY)
    layers.beam_search_decode(block.var("ids"), block.var("scores"), beam_size=2, end_id=END)
    op, values = block.ops[-1], {"ids": ids, "scores": scores}
    row(op.type).host(Host(block, fluid.global_scope(), values, 0, 0), op)
    sentences, found = values[op.output("SentenceIds")[0]], values[op.output("SentenceScores")[0]]
    assert sentences.lod() == found.lod() == [[0, 2, 3], [0, 4, 7, 10]]
    assert np.array(sentences).ravel().tolist() == [1, 4, 6, 7, 1, 3, END, 1, 5, END]
    np.testing.assert_allclose(np.array(found).ravel()[:4], [0.0, 0.4, 0.7, 0.8])
