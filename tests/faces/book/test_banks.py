"""Memories of whole sequences: banks of rows that a step reads and writes, as neural Turing machines have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease

L, networks = paddle.layer, paddle.networks
RNG = np.random.default_rng(5)
ROWS = [
    (RNG.normal(size=(n, 3)), RNG.normal(size=(m, 2))) for n, m in ((3, 2), (1, 4), (4, 1), (2, 3), (5, 3))
]
WORDS, END = 4, 1


def told(layer, **values) -> paddle.parameters.Parameters:
    """The parameters of a layer, each drawn anew from its name."""
    parameters = paddle.parameters.create(layer)
    for name in parameters:
        local = np.random.default_rng(list(name.encode()))
        parameters[name] = local.normal(0, 0.7, parameters[name].shape)
    return parameters


def bank(is_reverse: bool):
    """Each row of a bank is written anew at every moment; a moment gives their sum."""
    moments = L.data(name="x", type=paddle.data_type.dense_vector_sequence(3))
    begin = L.data(name="b", type=paddle.data_type.dense_vector_sequence(2))
    first = L.fc(input=begin, size=4, name="first", bias_attr=False)

    def step(moment):
        rows = L.memory(name="bank", size=4, boot_layer=first)
        key = L.expand(input=L.fc(input=moment, size=4, name="key", bias_attr=False), expand_as=rows)
        now = L.fc(input=[rows, key], size=4, name="bank", bias_attr=False)
        return L.pooling(input=now, pooling_type=paddle.pooling.Sum())

    return L.recurrent_group(step=step, input=moments, reverse=is_reverse, name="g")


def by_hand(values: Mapping[str, np.ndarray], is_reverse: bool) -> np.ndarray:
    """The same with numpy."""
    found: list[np.ndarray] = []
    for moments, begin in ROWS:
        rows, own = np.tanh(begin @ values["_first.w0"]), list[np.ndarray]()
        for moment in moments[::-1] if is_reverse else moments:
            key = np.tanh(moment @ values["_key@g.w0"])
            rows = np.tanh(rows @ values["_bank@g.w0"] + key @ values["_bank@g.w1"])
            own.append(rows.sum(0))
        found += own[::-1] if is_reverse else own
    return np.array(found)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_bank_goes_on_from_moment_to_moment_and_gradients_come_back(is_reverse: bool, threads: int) -> None:
    paddle.init(use_gpu=False, trainer_count=threads)
    out = bank(is_reverse)
    cost = L.sum_cost(input=L.fc(input=out, size=1, name="o", bias_attr=False))
    parameters = told(cost)
    values = {name: parameters[name].astype(np.float64) for name in parameters}
    found = paddle.infer(output_layer=out, parameters=parameters, input=ROWS)
    np.testing.assert_allclose(found, by_hand(values, is_reverse), rtol=1e-5, atol=1e-6)
    learned = {}

    def look(event):
        if isinstance(event, paddle.event.EndIteration):
            learned.update({name: parameters.get_grad(name) for name in values})

    paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.0)).train(
        lambda: iter([ROWS]), event_handler=look
    )
    for name, value in values.items():
        for place in np.ndindex(*value.shape):
            moved = [{**values, name: value.copy()} for _ in range(2)]
            moved[0][name][place] += 1e-5
            moved[1][name][place] -= 1e-5
            up, down = (np.tanh(by_hand(each, is_reverse) @ each["_o.w0"]).sum() for each in moved)
            assert learned[name][place] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-4)


def writer(is_generating: bool):
    """It reads a bank, which begins as the source, by the word before, writes there, and says the next word;
    nothing but the bank says what it began with."""
    source = L.data(name="source", type=paddle.data_type.integer_value_sequence(WORDS))
    begin = L.embedding(input=source, size=5, param_attr=paddle.attr.Param(name="sources"))

    def step(word):
        rows = L.memory(name="bank", size=5, boot_layer=begin, is_seq=True)
        key = L.expand(input=L.fc(input=word, size=5, name="key"), expand_as=rows)
        share = L.fc(
            input=[rows, key], size=1, act=paddle.activation.SequenceSoftmax(), name="share", bias_attr=False
        )
        written = L.scaling(input=key, weight=share)
        L.addto(input=[rows, written], name="bank")
        seen = L.pooling(input=L.scaling(input=rows, weight=share), pooling_type=paddle.pooling.Sum())
        return L.fc(input=[seen, word], size=WORDS, act=paddle.activation.Softmax(), name="says")

    table = "targets"
    if is_generating:
        words = L.GeneratedInput(size=WORDS, embedding_name=table, embedding_size=3)
        return L.beam_search(step, [words], bos_id=0, eos_id=END, beam_size=12, max_length=3, name="g")
    target = L.data(name="target", type=paddle.data_type.integer_value_sequence(WORDS))
    vectors = L.embedding(input=target, size=3, param_attr=paddle.attr.Param(name=table))
    return L.recurrent_group(step=step, input=[vectors], name="g")


def scores(said, parameters, source: Sequence[int], paths: Sequence[tuple[int, ...]]) -> list[float]:
    """How probable what is trained finds words behind the beginning."""
    rows = [(list(source), [0, *path[:-1]]) for path in paths]
    found = paddle.infer(output_layer=said, parameters=parameters, input=rows)
    flat = iter(np.log(found))
    return [float(sum(next(flat)[word] for word in path)) for path in paths]


def test_a_search_goes_on_from_the_bank_of_each_path() -> None:
    said = writer(is_generating=False)
    parameters = told(said)
    paths = [
        path
        for length in (1, 2, 3)
        for path in product(range(WORDS), repeat=length)
        if END not in path[:-1] and (path[-1] == END or length == 3)
    ]
    sources = ([2, 3, 0], [3], [1, 2])
    known = [dict(zip(paths, scores(said, parameters, each, paths), strict=True)) for each in sources]
    words = writer(is_generating=True)
    probs, ids = paddle.infer(
        output_layer=words,
        parameters=parameters,
        input=[(list(each),) for each in sources],
        field=["prob", "id"],
    )
    found = np.split(ids, np.flatnonzero(ids == -1) + 1)[:-1]  # of each its length, its words and -1
    results = iter(tuple(each[1:-1].tolist()) for each in found)
    for of, prob in zip(known, probs, strict=True):
        likely = prob[np.isfinite(prob)]
        assert len(likely) >= 9
        np.testing.assert_allclose(likely, [of[next(results)] for _ in likely], rtol=1e-4)
        assert likely[0] == pytest.approx(max(of.values()), rel=1e-4)


def test_what_a_bank_cannot_be_is_refused() -> None:
    x = L.data(name="x", type=paddle.data_type.dense_vector_sequence(3))
    other = L.data(name="other", type=paddle.data_type.dense_vector_sequence(3))
    nested = L.data(name="nested", type=paddle.data_type.dense_vector_sub_sequence(3))
    words = L.data(name="words", type=paddle.data_type.integer_value_sequence(3))
    narrow = L.data(name="narrow", type=paddle.data_type.dense_vector_sequence(1))
    row = L.data(name="row", type=paddle.data_type.dense_vector(1))

    def group(boot, is_seq=False):
        def step(moment):
            former = L.memory(name="now", size=3, boot_layer=boot, is_seq=is_seq)
            mean = L.pooling(input=former, pooling_type=paddle.pooling.Avg())
            return L.fc(input=[moment, mean], size=3, name="now")

        return L.recurrent_group(step=step, input=x)

    with pytest.raises(ValueError, match="of whole sequences begins with one"):
        group(None, is_seq=True)
    for boot, error, says in (
        (other, ValueError, "begins with a sequence, and what it remembers, .* is a row of each sample"),
        (nested, NotInThisRelease, "a sequence of sequences: that is not"),
        (words, ValueError, "'words' gives integer ids, where numbers"),
        (narrow, ValueError, "has size 3, and 'narrow', with which it begins, 1"),
        (row, ValueError, "has size 3, and 'row', with which it begins, 1"),
    ):
        layer = group(boot)
        with pytest.raises(error, match=says):
            paddle.infer(output_layer=layer, parameters=paddle.parameters.create(layer), input=[])
