"""Machine translation as the book wrote it for fluid: trained by a DynamicRNN, decoded by a beam in While."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers as pd

from ..stepping import told

WORDS, EMB, HIDDEN, BEAM, LONGEST = 12, 8, 8, 2, 6
START, END = 0, 1


def encoder():
    src_word_id = pd.data(name="src_word_id", shape=[1], dtype="int64", lod_level=1)
    src_embedding = pd.embedding(
        input=src_word_id,
        size=[WORDS, EMB],
        dtype="float32",
        is_sparse=True,
        param_attr=fluid.ParamAttr(name="vemb"),
    )
    fc1 = pd.fc(input=src_embedding, size=HIDDEN * 4, act="tanh", param_attr="enc_w", bias_attr="enc_b")
    lstm_hidden0, _ = pd.dynamic_lstm(input=fc1, size=HIDDEN * 4, param_attr="lstm_w", bias_attr="lstm_b")
    return pd.sequence_last_step(input=lstm_hidden0)


def state_attr():
    names = [fluid.ParamAttr(name="state_word"), fluid.ParamAttr(name="state_former")]
    return {"param_attr": names, "bias_attr": "state_b"}


def decoder_train(context):
    trg_language_word = pd.data(name="target_language_word", shape=[1], dtype="int64", lod_level=1)
    trg_embedding = pd.embedding(
        input=trg_language_word,
        size=[WORDS, EMB],
        dtype="float32",
        is_sparse=True,
        param_attr=fluid.ParamAttr(name="vemb"),
    )
    rnn = pd.DynamicRNN()
    with rnn.block():
        current_word = rnn.step_input(trg_embedding)
        pre_state = rnn.memory(init=context)
        current_state = pd.fc(input=[current_word, pre_state], size=HIDDEN, act="tanh", **state_attr())
        current_score = pd.fc(
            input=current_state, size=WORDS, act="softmax", param_attr="score_w", bias_attr="score_b"
        )
        rnn.update_memory(pre_state, current_state)
        rnn.output(current_score)
    return rnn()


def decode(context):
    array_len = pd.fill_constant(shape=[1], dtype="int64", value=LONGEST)
    counter = pd.zeros(shape=[1], dtype="int64", force_cpu=True)
    state_array = pd.create_array("float32")
    pd.array_write(context, array=state_array, i=counter)
    ids_array, scores_array = pd.create_array("int64"), pd.create_array("float32")
    init_ids = pd.data(name="init_ids", shape=[1], dtype="int64", lod_level=2)
    init_scores = pd.data(name="init_scores", shape=[1], dtype="float32", lod_level=2)
    pd.array_write(init_ids, array=ids_array, i=counter)
    pd.array_write(init_scores, array=scores_array, i=counter)
    cond = pd.less_than(x=counter, y=array_len)
    while_op = pd.While(cond=cond)
    with while_op.block():
        pre_ids = pd.array_read(array=ids_array, i=counter)
        pre_state = pd.array_read(array=state_array, i=counter)
        pre_score = pd.array_read(array=scores_array, i=counter)
        # the state of each beginning, once for each way in which it went on
        pre_state_expanded = pd.sequence_expand(pre_state, pre_score)
        pre_ids_emb = pd.embedding(
            input=pre_ids, size=[WORDS, EMB], dtype="float32", is_sparse=True, param_attr="vemb"
        )
        current_state = pd.fc(
            input=[pre_ids_emb, pre_state_expanded], size=HIDDEN, act="tanh", **state_attr()
        )
        current_state_with_lod = pd.lod_reset(x=current_state, y=pre_score)
        current_score = pd.fc(
            input=current_state_with_lod, size=WORDS, act="softmax", param_attr="score_w", bias_attr="score_b"
        )
        topk_scores, topk_indices = pd.topk(current_score, k=BEAM)
        accu_scores = pd.elementwise_add(x=pd.log(topk_scores), y=pd.reshape(pre_score, shape=[-1]), axis=0)
        selected_ids, selected_scores = pd.beam_search(
            pre_ids, pre_score, topk_indices, accu_scores, BEAM, end_id=END, level=0
        )
        pd.increment(x=counter, value=1, in_place=True)
        pd.array_write(current_state, array=state_array, i=counter)
        pd.array_write(selected_ids, array=ids_array, i=counter)
        pd.array_write(selected_scores, array=scores_array, i=counter)
        length_cond = pd.less_than(x=counter, y=array_len)
        finish_cond = pd.logical_not(pd.is_empty(x=selected_ids))
        pd.logical_and(x=length_cond, y=finish_cond, out=cond)
    return pd.beam_search_decode(ids=ids_array, scores=scores_array, beam_size=BEAM, end_id=END)


def decode_by_parents(context):
    """As Transformers of fluid did: states are gathered by the numbers of their parents, without any LoD."""
    ids_of_start = pd.data(name="init_ids", shape=[1], dtype="int64", lod_level=2)
    init_scores = pd.data(name="init_scores", shape=[1], dtype="float32", lod_level=2)
    parent_idx = pd.data(name="parent_idx", shape=[1], dtype="int32")
    max_len = pd.fill_constant(shape=[1], dtype=ids_of_start.dtype, value=LONGEST, force_cpu=True)
    step_idx = pd.fill_constant(shape=[1], dtype=ids_of_start.dtype, value=0, force_cpu=True)
    cond = pd.less_than(x=step_idx, y=max_len)
    while_op = pd.While(cond)
    ids = pd.array_write(pd.reshape(ids_of_start, (-1, 1)), step_idx)
    scores = pd.array_write(init_scores, step_idx)
    state = pd.assign(context)
    with while_op.block():
        pre_ids = pd.reshape(pd.array_read(array=ids, i=step_idx), (-1, 1, 1), inplace=True)
        pre_scores = pd.array_read(array=scores, i=step_idx)
        pre_state = pd.gather(state, index=parent_idx)
        emb = pd.embedding(pd.reshape(pre_ids, (-1, 1)), size=[WORDS, EMB], param_attr="vemb")
        current = pd.fc(input=[emb, pre_state], size=HIDDEN, act="tanh", **state_attr())
        logits = pd.fc(input=current, size=WORDS, param_attr="score_w", bias_attr="score_b")
        topk_scores, topk_indices = pd.topk(input=pd.softmax(logits), k=BEAM)
        accu_scores = pd.elementwise_add(x=pd.log(topk_scores), y=pre_scores, axis=0)
        accu_scores = pd.lod_reset(accu_scores, pre_ids)
        selected_ids, selected_scores, parents = pd.beam_search(
            pre_ids, pre_scores, topk_indices, accu_scores, BEAM, END, return_parent_idx=True
        )
        pd.increment(x=step_idx, value=1.0, in_place=True)
        pd.array_write(selected_ids, i=step_idx, array=ids)
        pd.array_write(selected_scores, i=step_idx, array=scores)
        pd.assign(parents, parent_idx)
        pd.assign(current, state)
        length_cond = pd.less_than(x=step_idx, y=max_len)
        finish_cond = pd.logical_not(pd.is_empty(x=selected_ids))
        pd.logical_and(x=length_cond, y=finish_cond, out=cond)
    return pd.beam_search_decode(ids, scores, beam_size=BEAM, end_id=END)


def sentences():
    """A sentence is translated to itself."""
    rng = np.random.default_rng(6)
    for _ in range(12):
        words = rng.integers(2, WORDS, 2).tolist()
        yield words, [START, *words], [*words, END]


def trained(exe, passes):
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        rnn_out = decoder_train(encoder())
        label = pd.data(name="target_language_next_word", shape=[1], dtype="int64", lod_level=1)
        avg_cost = pd.mean(pd.cross_entropy(input=rnn_out, label=label))
        fluid.optimizer.Adam(learning_rate=0.05).minimize(avg_cost)
    exe.run(startup)
    names = ["src_word_id", "target_language_word", "target_language_next_word"]
    batch = fluid.DataFeeder([main.global_block().var(name) for name in names], None).feed(list(sentences()))
    with fluid.program_guard(main, startup):
        return told(lambda exe, _: exe.run(main, feed=batch, fetch_list=[avg_cost]), passes)[:, 0]


def expected_sentences(words, weights):
    """The same search over one sentence, without any LoD: (words, score) of each, best first."""
    hidden, cell, size = np.zeros(HIDDEN), np.zeros(HIDDEN), HIDDEN
    bias = weights["lstm_b"][0]
    for word in words:
        x = np.tanh(weights["vemb"][word] @ weights["enc_w"] + weights["enc_b"])
        c, i, f, o = np.split(x + hidden @ weights["lstm_w"] + bias[: 4 * size], 4)
        peep = bias[4 * size :].reshape(3, size)
        i, f = (1 / (1 + np.exp(-(gate + p * cell))) for gate, p in ((i, peep[0]), (f, peep[1])))
        cell = np.tanh(c) * i + cell * f
        hidden = np.tanh(cell) / (1 + np.exp(-(o + peep[2] * cell)))
    paths = [([START], 0.0, hidden)]
    for _ in range(LONGEST):
        options = []
        for said, score, state in paths:
            if said[-1] == END:
                options.append((said, score, state))
                continue
            reach = weights["vemb"][said[-1]] @ weights["state_word"] + state @ weights["state_former"]
            state = np.tanh(reach + weights["state_b"])
            raw = np.exp(state @ weights["score_w"] + weights["score_b"])
            logs = np.log(raw / raw.sum())
            options += [([*said, w], score + logs[w], state) for w in np.argsort(-logs)[:BEAM]]
        paths = sorted(options, key=lambda each: each[1], reverse=True)[:BEAM]
        if all(said[-1] == END for said, _, _ in paths):
            break
    return [(list(map(int, said)), score) for said, score, _ in paths]


@pytest.mark.parametrize("decoded", [decode, decode_by_parents])
def test_a_translation_is_learnt_and_searched_for(decoded) -> None:
    exe = fluid.Executor(fluid.CPUPlace())
    losses = trained(exe, passes=40)
    assert losses[-1] < losses[0] / 2
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        translation_ids, translation_scores = decoded(encoder())
    sources = [words for words, _, _ in list(sentences())[:3]]
    lod = [[1] * len(sources)] * 2
    feed = {
        "src_word_id": fluid.create_lod_tensor(sources, [[len(words) for words in sources]], None),
        "init_ids": fluid.create_lod_tensor(np.full((3, 1), START), lod, None),
        "init_scores": fluid.create_lod_tensor(np.zeros((3, 1), np.float32), lod, None),
        "parent_idx": np.arange(3, dtype=np.int32).reshape(3, 1),
    }
    if decoded is decode:
        del feed["parent_idx"]
    ids, scores = exe.run(
        main, feed=feed, fetch_list=[translation_ids, translation_scores], return_numpy=False
    )
    names = [each.name for each in main.all_parameters()]
    weights = {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names}
    of_source, of_sentence = ids.lod()
    words, found = np.array(ids).ravel().tolist(), np.array(scores).ravel()
    for number, source in enumerate(sources):
        expected = expected_sentences(source, weights)
        first, end = of_source[number], of_source[number + 1]
        said = [words[of_sentence[k] : of_sentence[k + 1]] for k in range(first, end)]
        assert said == [sentence for sentence, _ in expected]
        last = [found[of_sentence[k + 1] - 1] for k in range(first, end)]
        np.testing.assert_allclose(last, [score for _, score in expected], rtol=1e-3, atol=1e-4)


def attention(encoder_vec, encoder_proj, state, size):
    state_proj = pd.fc(input=state, size=size, bias_attr=False)
    state_expand = pd.sequence_expand(x=state_proj, y=encoder_proj)
    concated = pd.concat(input=[encoder_proj, state_expand], axis=1)
    weights = pd.fc(input=concated, size=1, act="tanh", bias_attr=False)
    weights = pd.sequence_softmax(input=weights)
    scaled = pd.elementwise_mul(x=encoder_vec, y=pd.reshape(x=weights, shape=[-1]), axis=0)
    return pd.sequence_pool(input=scaled, pool_type="sum")


@pytest.mark.parametrize("passes", [40])
def test_a_translation_with_attention_is_learnt(passes) -> None:
    src = pd.data(name="source_sequence", shape=[1], dtype="int64", lod_level=1)
    emb = pd.embedding(input=src, size=[WORDS, EMB])
    forward = pd.dynamic_gru(input=pd.fc(input=emb, size=HIDDEN * 3, bias_attr=False), size=HIDDEN)
    back_in = pd.fc(input=emb, size=HIDDEN * 3, bias_attr=False)
    backward = pd.dynamic_gru(input=back_in, size=HIDDEN, is_reverse=True)
    encoded = pd.concat(input=[forward, backward], axis=1)
    projected = pd.fc(input=encoded, size=HIDDEN, bias_attr=False)
    boot = pd.fc(input=pd.sequence_first_step(input=backward), size=HIDDEN, bias_attr=False, act="tanh")
    trg = pd.data(name="target_sequence", shape=[1], dtype="int64", lod_level=1)
    trg_emb = pd.embedding(input=trg, size=[WORDS, EMB])
    rnn = pd.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(trg_emb)
        vec, proj = rnn.static_input(encoded), rnn.static_input(projected)
        hidden_mem = rnn.memory(init=boot, need_reorder=True)
        context = attention(vec, proj, hidden_mem, HIDDEN)
        inputs = pd.fc(input=[context, word], size=HIDDEN * 3, bias_attr=False)
        hidden, _, _ = pd.gru_unit(input=inputs, hidden=hidden_mem, size=HIDDEN * 3)
        rnn.update_memory(hidden_mem, hidden)
        rnn.output(pd.fc(input=hidden, size=WORDS, bias_attr=True, act="softmax"))
    label = pd.data(name="label_sequence", shape=[1], dtype="int64", lod_level=1)
    avg_cost = pd.mean(pd.cross_entropy(input=rnn(), label=label))
    fluid.optimizer.Adam(learning_rate=0.05).minimize(avg_cost)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    batch = fluid.DataFeeder([src, trg, label], None).feed(list(sentences()))
    losses = told(lambda exe, _: exe.run(feed=batch, fetch_list=[avg_cost]), passes)[:, 0]
    assert losses[-1] < losses[0] / 4
