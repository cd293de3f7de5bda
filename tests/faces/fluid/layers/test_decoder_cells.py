"""Decoders of two states, whose steps have a context, and whose search a program writes itself, against
numbers of paddlepaddle 1.8.5."""

from __future__ import annotations

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
from tests.faces.fluid.layers.test_decoder import DIM, FEED, SOURCE, WIDTH, WORDS, _weights

LOSSES = {False: [2.57269, 2.3191, 2.02395, 1.71209], True: [2.57128, 2.24126, 1.91063, 1.64471]}
"""By whether the cell has a context, of four steps of Adagrad."""
SENTENCES = {
    (False, False): (
        "0444444 0444449 0444444 0444494 0444444 0444494",
        [-6.0738, -6.2407, -6.1143, -6.2774, -6.1113, -6.2745],
    ),
    (True, False): (
        "0444444 0494444 0444444 0444449 0444444 0444449",
        [-6.1704, -6.2831, -6.1238, -6.2887, -6.1223, -6.2868],
    ),
    (False, True): (
        "0880008 0880000 0800008 0800000 0800008 0800000",
        [-12.0836, -12.0864, -12.1714, -12.1741, -12.1704, -12.1731],
    ),
    (True, True): (
        "0880000 0880009 0800008 0800000 0080008 0080000",
        [-12.1865, -12.1884, -12.1679, -12.1713, -12.173, -12.1757],
    ),
}
"""By whether it has one, and whether the program writes the search: sentences, and their scores."""


def _cell(has_context: bool) -> tuple[StateCell, Any]:
    seen = layers.embedding(
        layers.data("src", [1], dtype="int64", lod_level=1),
        [WORDS, DIM],
        param_attr=_weights("src_emb", WORDS, DIM),
    )
    read = [
        layers.sequence_last_step(
            layers.fc(
                seen,
                WIDTH,
                act="tanh",
                param_attr=_weights(f"ew{at}", DIM, WIDTH),
                bias_attr=_weights(f"eb{at}", WIDTH),
            )
        )
        for at in range(3)
    ]
    inputs = {"x": None, "context": None} if has_context else {"x": None}
    states = {name: InitState(each, need_reorder=True) for name, each in zip("hc", read, strict=False)}
    cell = StateCell(inputs=inputs, states=states, out_state="h")

    @cell.state_updater
    def _update(cell: StateCell) -> None:
        given = [cell.get_state("h"), cell.get_input("x")]
        weights = [_weights("hh", WIDTH, 4 * WIDTH), _weights("xh", DIM, 4 * WIDTH)]
        if has_context:
            given.append(cell.get_input("context"))
            weights.append(_weights("ch", WIDTH, 4 * WIDTH))
        gates = layers.fc(given, 4 * WIDTH, param_attr=weights, bias_attr=_weights("hb", 4 * WIDTH))
        put, forget, show, new = layers.split(gates, 4, dim=1)
        kept = layers.sigmoid(forget) * cell.get_state("c") + layers.sigmoid(put) * layers.tanh(new)
        cell.set_state("c", kept)
        cell.set_state("h", layers.sigmoid(show) * layers.tanh(kept))

    return cell, read[2]


def _chances(state: Any) -> Any:
    out = {"param_attr": _weights("ow", WIDTH, WORDS), "bias_attr": _weights("ob", WORDS)}
    return layers.fc(state, WORDS, act="softmax", **out)


@pytest.mark.parametrize("has_context", [False, True])
def test_two_states_are_trained_as_the_originals(has_context: bool) -> None:
    cell, context = _cell(has_context)
    decoder = TrainingDecoder(cell)
    target = layers.data("trg", [1], dtype="int64", lod_level=1)
    words = layers.embedding(target, [WORDS, DIM], param_attr=_weights("trg_emb", WORDS, DIM))
    with decoder.block():
        inputs = {"x": decoder.step_input(words)}
        if has_context:
            inputs["context"] = decoder.static_input(context)
        decoder.state_cell.compute_state(inputs=inputs)
        chances = _chances(decoder.state_cell.get_state("h"))
        decoder.state_cell.update_states()
        decoder.output(chances)
    following = layers.data("nxt", [1], dtype="int64", lod_level=1)
    loss = layers.mean(layers.cross_entropy(decoder(), following))
    fluid.optimizer.Adagrad(0.1).minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    found = [float(exe.run(feed=FEED, fetch_list=[loss])[0].item()) for _ in range(4)]
    np.testing.assert_allclose(found, LOSSES[has_context], rtol=2e-5)


def _search(decoder: BeamSearchDecoder, ids: Any, scores: Any, context: Any) -> None:
    """A step as a program writes it, which shares its words and chances with training."""
    with decoder.block():
        before = decoder.read_array(init=ids, is_ids=True)
        so_far = decoder.read_array(init=scores, is_scores=True)
        words = layers.embedding(before, [WORDS, DIM], param_attr=_weights("trg_emb", WORDS, DIM))
        inputs, read = {"x": words}, None
        if context is not None:
            read = decoder.read_array(init=context)
            inputs["context"] = layers.sequence_expand(read, so_far)
        cell = decoder.state_cell
        for name in "hc":
            cell.set_state(name, layers.sequence_expand(cell.get_state(name), so_far))
        cell.compute_state(inputs=inputs)
        likely, chosen = layers.topk(_chances(layers.lod_reset(cell.out_state(), y=so_far)), k=5)
        total = layers.elementwise_add(layers.log(likely), layers.reshape(so_far, [-1]), axis=0)
        after, scored = layers.beam_search(before, so_far, chosen, total, 2, end_id=1, level=0)
        left = [(before, after), (so_far, scored)]
        _leave(decoder, left + ([] if read is None else [(read, inputs["context"])]), after)


def _leave(decoder: BeamSearchDecoder, left: list[tuple[Any, Any]], after: Any) -> None:
    with layers.Switch() as switch:
        with switch.case(layers.is_empty(after)):
            decoder.early_stop()
        with switch.default():
            decoder.state_cell.update_states()
            for array, value in left:
                decoder.update_array(array, value)


def _set(exe: Any) -> None:
    """Give what a decoder made itself its numbers."""
    exe.run(fluid.default_startup_program())
    for parameter in fluid.default_main_program().all_parameters():
        if parameter.name.startswith(("embedding_", "fc_")):
            values = np.sin(np.arange(int(np.prod(parameter.shape))) * 1.3 + 3).astype(np.float32) * 2
            tensor = fluid.global_scope().find_var(parameter.name).get_tensor()
            tensor.set(values.reshape(parameter.shape), fluid.CPUPlace())


@pytest.mark.parametrize(("has_context", "is_own"), SENTENCES)
def test_a_search_of_two_states_finds_what_the_originals_finds(has_context: bool, is_own: bool) -> None:
    cell, context = _cell(has_context)
    ids = layers.data("ids", [1], dtype="int64", lod_level=2)
    scores = layers.data("scores", [1], dtype="float32", lod_level=2)
    told = {"target_dict_dim": WORDS, "word_dim": DIM, "topk_size": 5, "sparse_emb": False, "max_len": 6}
    more = {"context": context} if has_context else {}
    decoder = BeamSearchDecoder(cell, ids, scores, input_var_dict=more, beam_size=2, end_id=1, **told)
    if is_own:
        _search(decoder, ids, scores, context if has_context else None)
    else:
        decoder.decode()
    outs, exe, one = decoder(), fluid.Executor(fluid.CPUPlace()), [[1, 1, 1], [1, 1, 1]]
    _set(exe)
    begin = {
        "ids": fluid.create_lod_tensor(np.zeros((3, 1), np.int64), one, fluid.CPUPlace()),
        "scores": fluid.create_lod_tensor(np.ones((3, 1), np.float32), one, fluid.CPUPlace()),
    }
    found, sums = exe.run(feed={"src": SOURCE, **begin}, fetch_list=list(outs), return_numpy=False)
    sentences, last = SENTENCES[has_context, is_own]
    assert found.recursive_sequence_lengths() == [[2, 2, 2], [7] * 6]
    assert ["".join(map(str, each)) for each in np.array(found).reshape(6, 7)] == sentences.split()
    np.testing.assert_allclose(np.array(sums).reshape(6, 7)[:, -1], last, atol=2e-4)


def test_inputs_that_a_cell_has_not_are_refused() -> None:
    cell, context = _cell(has_context=False)
    ids = layers.data("ids", [1], dtype="int64", lod_level=2)
    scores = layers.data("scores", [1], dtype="float32", lod_level=2)
    decoder = BeamSearchDecoder(cell, ids, scores, WORDS, DIM, input_var_dict={"context": context})
    with pytest.raises(ValueError, match="the cell has no input 'context', as input_var_dict says"):
        decoder.decode()
