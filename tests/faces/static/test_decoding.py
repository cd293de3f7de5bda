"""Words and tags that are chosen step by step. Sentences were chosen once by the wheel of 2.6.2."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import paddle
from paddle import nn
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(2)


def test_a_beam_that_ends_first_ends_nothing() -> None:
    words, said = nn.Embedding(12, 8), nn.Linear(8, 12)
    cell = nn.LSTMCell(8, 8)
    decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, embedding_fn=words, output_fn=said)
    x = paddle.static.data("x", [None, 5, 8])
    told = {"max_step_num": 7, "impute_finished": True, "return_length": True}
    sentences, last, lengths = nn.dynamic_decode(decoder, cell.get_initial_states(x), **told)
    executor, drawn = paddle.static.Executor(), np.random.RandomState(5)
    executor.run(paddle.static.default_startup_program())
    for parameter in paddle.static.default_main_program().all_parameters():
        parameter.set_value((drawn.randn(*parameter.shape) * 1.5).astype("float32"))
    feed = {"x": drawn.rand(2, 5, 8).astype("float32")}
    ids, scores, ends = executor.run(feed=feed, fetch_list=[sentences, last.log_probs, lengths])
    assert ids[0].T.tolist() == [[1] * 8, [6] * 8, [6, 0, 6, 6, 6, 6, 6, 6]]
    assert ends.tolist() == [[1, 8, 8]] * 2
    np.testing.assert_allclose(scores, [[-1.7757291, -6.69014, -7.0192513]] * 2, rtol=1e-5)


def best(worth: np.ndarray, passing: np.ndarray, bounded: bool) -> tuple[float, tuple[int, ...]]:
    """Of all chains of tags."""
    found = []
    for chain in product(range(worth.shape[1]), repeat=len(worth)):
        score = sum(worth[at, tag] for at, tag in enumerate(chain))
        score += sum(passing[pair] for pair in pairwise(chain))
        score += passing[-1, chain[0]] + passing[-2, chain[-1]] if bounded else 0
        found.append((float(score), chain))
    return max(found)


@pytest.mark.parametrize("bounded", [True, False])
def test_the_best_chain_is_the_best_of_all(bounded: bool) -> None:
    worth, passing, lengths = RNG.normal(size=(4, 5, 4)), RNG.normal(size=(4, 4)), np.array([3, 1, 4, 2])
    x, moved, n = data((worth, passing, lengths), feed := {})
    decoder = paddle.text.ViterbiDecoder(moved, bounded)
    scores, path, again = ran([*paddle.text.viterbi_decode(x, moved, n, bounded), decoder(x, n)[1]], feed)
    assert path.shape == (4, 4) and path.tolist() == again.tolist()
    for row, length in enumerate(lengths):
        score, chain = best(worth[row, :length], passing, bounded)
        assert path[row].tolist() == [*chain, *[0] * (4 - length)]
        np.testing.assert_allclose(scores[row], score, rtol=1e-5)
