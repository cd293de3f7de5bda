"""fluid.contrib.decoder against numbers of paddlepaddle 1.8.5: losses and gradients of a decoder that is
trained, sentences and scores of one that searches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers
from paddle.fluid.contrib.decoder.beam_search_decoder import (
    BeamSearchDecoder,
    InitState,
    StateCell,
    TrainingDecoder,
)
from tests.faces.fluid.numeric import assert_gradients

WORDS, DIM, WIDTH = 12, 6, 8
NAMES = ["enc_b", "enc_w", "hb", "hh", "out_b", "out_w", "src_emb", "trg_emb", "xh"]


def _weights(name: str, *shape: int) -> fluid.ParamAttr:
    values = np.sin(np.arange(int(np.prod(shape))) * 0.7 + len(name)).astype(np.float32) * np.float32(0.4)
    initializer = fluid.initializer.NumpyArrayInitializer(values.reshape(shape))
    return fluid.ParamAttr(name=name, initializer=initializer)


def _words(rows: list[int], lengths: list[int]) -> Any:
    return fluid.create_lod_tensor(np.array(rows).reshape(-1, 1), [lengths], fluid.CPUPlace())


SOURCE = _words([2, 3, 4, 5, 6, 7, 8, 9, 10], [2, 4, 3])
FEED = {
    "src": SOURCE,
    "trg": _words([1, 3, 5, 7, 2, 4, 1, 6], [3, 1, 4]),
    "nxt": _words([3, 5, 7, 2, 2, 1, 6, 9], [3, 1, 4]),
}


def _cell() -> StateCell:
    source = layers.data("src", [1], dtype="int64", lod_level=1)
    seen = layers.embedding(source, [WORDS, DIM], param_attr=_weights("src_emb", WORDS, DIM))
    how = {"act": "tanh", "param_attr": _weights("enc_w", DIM, WIDTH), "bias_attr": _weights("enc_b", WIDTH)}
    begin = InitState(layers.sequence_last_step(layers.fc(seen, WIDTH, **how)), need_reorder=True)
    cell = StateCell(inputs={"x": None}, states={"h": begin}, out_state="h")

    @cell.state_updater
    def _update(cell: StateCell) -> None:
        both = [cell.get_state("h"), cell.get_input("x")]
        weights = [_weights("hh", WIDTH, WIDTH), _weights("xh", DIM, WIDTH)]
        bias = _weights("hb", WIDTH)
        cell.set_state("h", layers.fc(both, WIDTH, act="tanh", param_attr=weights, bias_attr=bias))

    return cell


def _loss() -> Any:
    decoder = TrainingDecoder(_cell())
    target = layers.data("trg", [1], dtype="int64", lod_level=1)
    words = layers.embedding(target, [WORDS, DIM], param_attr=_weights("trg_emb", WORDS, DIM))
    out = {"param_attr": _weights("out_w", WIDTH, WORDS), "bias_attr": _weights("out_b", WORDS)}
    with decoder.block():
        decoder.state_cell.compute_state(inputs={"x": decoder.step_input(words)})
        chances = layers.fc(decoder.state_cell.get_state("h"), WORDS, act="softmax", **out)
        decoder.state_cell.update_states()
        decoder.output(chances)
    following = layers.data("nxt", [1], dtype="int64", lod_level=1)
    return layers.mean(layers.cross_entropy(decoder(), following))


def test_a_decoder_is_trained_as_the_originals() -> None:
    loss = _loss()
    pairs = sorted(fluid.backward.append_backward(loss), key=lambda pair: pair[0].name)
    assert [parameter.name for parameter, _ in pairs] == NAMES
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    found = exe.run(feed=FEED, fetch_list=[loss, *(gradient for _, gradient in pairs)])
    sums = [float((each * np.cos(np.arange(each.size)).reshape(each.shape)).sum()) for each in found]
    wanted = [2.49605, -0.0837373, 0.000459048, -0.0228003, 0.0412181]
    wanted += [-0.0423969, 0.385918, 0.0784942, 0.00772025, 0.0104442]
    np.testing.assert_allclose(sums, wanted, rtol=2e-5, atol=1e-6)


def test_its_gradients_are_those_of_differences() -> None:
    assert_gradients(_loss, FEED, NAMES)


def _search(width: int, **told: Any) -> Any:
    ids = layers.data("ids", [1], dtype="int64", lod_level=2)
    scores = layers.data("scores", [1], dtype="float32", lod_level=2)
    sizes = {"target_dict_dim": WORDS, "word_dim": DIM, "topk_size": 6, "sparse_emb": False, "max_len": 7}
    return BeamSearchDecoder(_cell(), ids, scores, beam_size=width, **{**sizes, **told})


def _found(decoder: BeamSearchDecoder) -> tuple[Any, Any]:
    outs = decoder()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for parameter in fluid.default_main_program().all_parameters():
        if parameter.name not in NAMES:
            values = np.sin(np.arange(int(np.prod(parameter.shape))) * 1.3 + 3).astype(np.float32) * 2
            tensor = fluid.global_scope().find_var(parameter.name).get_tensor()
            tensor.set(values.reshape(parameter.shape), fluid.CPUPlace())
    lengths = [[1, 1, 1], [1, 1, 1]]
    begin = {
        "ids": fluid.create_lod_tensor(np.zeros((3, 1), np.int64), lengths, fluid.CPUPlace()),
        "scores": fluid.create_lod_tensor(np.ones((3, 1), np.float32), lengths, fluid.CPUPlace()),
    }
    ids, scores = exe.run(feed={"src": SOURCE, **begin}, fetch_list=list(outs), return_numpy=False)
    return ids, scores


def test_a_search_finds_what_the_originals_finds() -> None:
    decoder = _search(3)
    decoder.decode()
    ids, scores = _found(decoder)
    assert ids.recursive_sequence_lengths() == [[3, 3, 3], [8] * 9]
    sentences = np.array(ids).reshape(9, 8)
    assert sentences[:3].tolist() == [[0, 4, 4, 9, 9, 4, 4, 4], [0, *[4] * 7], [0, 4, 4, 9, 9, 4, 4, 9]]
    assert sentences[3:6].tolist() == [[0, *[4] * 7], [0, *[4] * 6, 9], [0, *[4] * 5, 9, 9]]
    last = [-6.9701, -7.0669, -7.0882, -6.9443, -6.9928, -7.323, -6.9435, -6.992, -7.3239]
    np.testing.assert_allclose(np.array(scores).reshape(9, 8)[:, -1], last, atol=1e-4)
    np.testing.assert_allclose(np.array(scores)[:4], [1, -0.0752, -1.0628, -2.1442], atol=1e-4)


def test_a_sentence_ends_with_the_word_that_says_so() -> None:
    decoder = _search(2, end_id=4)
    decoder.decode()
    sentences, _ = _found(decoder)
    starts = np.cumsum([0, *sentences.recursive_sequence_lengths()[1]])
    words = [np.array(sentences).ravel()[a:b].tolist() for a, b in pairwise(starts)]
    assert [0, 4] in words
    assert all(4 not in sentence[:-1] for sentence in words)


def test_what_is_out_of_place_is_refused() -> None:
    cell = _cell()
    with pytest.raises(ValueError, match="within the block of a decoder"):
        cell.get_state("h")
    with pytest.raises(ValueError, match="out_state is one of"):
        StateCell({}, {"h": InitState(layers.data("b", [3]))}, out_state="c")
    with pytest.raises(ValueError, match="tell init, or init_boot"):
        InitState(shape=[-1, 3])
    decoder = TrainingDecoder(cell)
    with pytest.raises(ValueError, match="step_input is of its block"):
        decoder.step_input(layers.data("a", [3]))
    with pytest.raises(ValueError, match="in a decoder already"):
        TrainingDecoder(cell)
