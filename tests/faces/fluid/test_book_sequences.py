"""The chapters of the book about text, as they were written for fluid, on tiny sizes: all of them learn."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid

from ..stepping import told

DICT, EMB, HID, CLASSES = 20, 8, 8, 2


def conv_net(data, label):
    emb = fluid.layers.embedding(input=data, size=[DICT, EMB], is_sparse=True)
    conv_3 = fluid.nets.sequence_conv_pool(
        input=emb, num_filters=HID, filter_size=3, act="tanh", pool_type="sqrt"
    )
    conv_4 = fluid.nets.sequence_conv_pool(
        input=emb, num_filters=HID, filter_size=4, act="tanh", pool_type="sqrt"
    )
    return fluid.layers.fc(input=[conv_3, conv_4], size=CLASSES, act="softmax")


def stacked_lstm_net(data, label, stacked_num=3):
    emb = fluid.layers.embedding(input=data, size=[DICT, EMB], is_sparse=True)
    fc1 = fluid.layers.fc(input=emb, size=HID)
    lstm1, _ = fluid.layers.dynamic_lstm(input=fc1, size=HID)
    inputs = [fc1, lstm1]
    for i in range(2, stacked_num + 1):
        fc = fluid.layers.fc(input=inputs, size=HID)
        lstm, _ = fluid.layers.dynamic_lstm(input=fc, size=HID, is_reverse=(i % 2) == 0)
        inputs = [fc, lstm]
    fc_last = fluid.layers.sequence_pool(input=inputs[0], pool_type="max")
    lstm_last = fluid.layers.sequence_pool(input=inputs[1], pool_type="max")
    return fluid.layers.fc(input=[fc_last, lstm_last], size=CLASSES, act="softmax")


def dyn_rnn_lstm(data, label, lstm_size=8):
    emb = fluid.layers.embedding(input=data, size=[DICT, EMB], is_sparse=True)
    sentence = fluid.layers.fc(input=emb, size=lstm_size, act="tanh")
    rnn = fluid.layers.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(sentence)
        prev_hidden = rnn.memory(value=0.0, shape=[lstm_size])
        prev_cell = rnn.memory(value=0.0, shape=[lstm_size])

        def gate_common(ipt, hidden, size):
            gate0 = fluid.layers.fc(input=ipt, size=size, bias_attr=True)
            gate1 = fluid.layers.fc(input=hidden, size=size, bias_attr=False)
            return fluid.layers.sums(input=[gate0, gate1])

        forget_gate = fluid.layers.sigmoid(x=gate_common(word, prev_hidden, lstm_size))
        input_gate = fluid.layers.sigmoid(x=gate_common(word, prev_hidden, lstm_size))
        output_gate = fluid.layers.sigmoid(x=gate_common(word, prev_hidden, lstm_size))
        cell_gate = fluid.layers.tanh(x=gate_common(word, prev_hidden, lstm_size))
        cell = fluid.layers.sums(
            input=[
                fluid.layers.elementwise_mul(x=forget_gate, y=prev_cell),
                fluid.layers.elementwise_mul(x=input_gate, y=cell_gate),
            ]
        )
        hidden = fluid.layers.elementwise_mul(x=output_gate, y=fluid.layers.tanh(x=cell))
        rnn.update_memory(prev_cell, cell)
        rnn.update_memory(prev_hidden, hidden)
        rnn.output(hidden)
    last = fluid.layers.sequence_last_step(rnn())
    return fluid.layers.fc(input=last, size=CLASSES, act="softmax")


def reviews(count=24, seed=2):
    """Sentences of small words, or of large ones."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    half = DICT // 2
    return [(rng.integers(half * k, half * (k + 1), rng.integers(2, 7)).tolist(), int(k)) for k in labels]


@pytest.mark.parametrize("net", [conv_net, stacked_lstm_net, dyn_rnn_lstm])
def test_understand_sentiment(net) -> None:
    data = fluid.layers.data(name="words", shape=[1], dtype="int64", lod_level=1)
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    prediction = net(data, label)
    cost = fluid.layers.cross_entropy(input=prediction, label=label)
    avg_cost = fluid.layers.mean(cost)
    accuracy = fluid.layers.accuracy(input=prediction, label=label)
    fluid.optimizer.Adagrad(learning_rate=0.1).minimize(avg_cost)
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    feeder = fluid.DataFeeder(feed_list=[data, label], place=place)
    exe.run(fluid.default_startup_program())
    batch = feeder.feed(reviews())
    costs = told(lambda exe, _: exe.run(feed=batch, fetch_list=[avg_cost, accuracy]), 25)
    assert costs[-1, 0] < costs[0, 0] / 2
    assert costs[-1, 1] == 1.0


WORDS, MARKS, LABELS, DEPTH = 15, 2, 5, 8


def db_lstm(word, predicate, ctx_n2, ctx_n1, ctx_0, ctx_p1, ctx_p2, mark):
    word_dim, mark_dim, hidden_dim = 4, 3, 16
    predicate_embedding = fluid.layers.embedding(
        input=predicate, size=[6, word_dim], dtype="float32", is_sparse=True, param_attr="vemb"
    )
    mark_embedding = fluid.layers.embedding(
        input=mark, size=[MARKS, mark_dim], dtype="float32", is_sparse=True
    )
    word_input = [word, ctx_n2, ctx_n1, ctx_0, ctx_p1, ctx_p2]
    emb_layers = [
        fluid.layers.embedding(
            size=[WORDS, word_dim], input=x, param_attr=fluid.ParamAttr(name="emb", trainable=False)
        )
        for x in word_input
    ]
    emb_layers.append(predicate_embedding)
    emb_layers.append(mark_embedding)
    hidden_0_layers = [fluid.layers.fc(input=emb, size=hidden_dim) for emb in emb_layers]
    hidden_0 = fluid.layers.sums(input=hidden_0_layers)
    lstm_0 = fluid.layers.dynamic_lstm(
        input=hidden_0,
        size=hidden_dim,
        candidate_activation="relu",
        gate_activation="sigmoid",
        cell_activation="sigmoid",
    )
    input_tmp = [hidden_0, lstm_0[0]]
    for i in range(1, DEPTH):
        mix_hidden = fluid.layers.sums(
            input=[
                fluid.layers.fc(input=input_tmp[0], size=hidden_dim),
                fluid.layers.fc(input=input_tmp[1], size=hidden_dim),
            ]
        )
        lstm = fluid.layers.dynamic_lstm(
            input=mix_hidden,
            size=hidden_dim,
            candidate_activation="relu",
            gate_activation="sigmoid",
            cell_activation="sigmoid",
            is_reverse=((i % 2) == 1),
        )
        input_tmp = [mix_hidden, lstm[0]]
    return fluid.layers.sums(
        input=[
            fluid.layers.fc(input=input_tmp[0], size=LABELS, act="tanh"),
            fluid.layers.fc(input=input_tmp[1], size=LABELS, act="tanh"),
        ]
    )


def test_label_semantic_roles() -> None:
    names = [
        "word_data",
        "verb_data",
        "ctx_n2_data",
        "ctx_n1_data",
        "ctx_0_data",
        "ctx_p1_data",
        "ctx_p2_data",
        "mark_data",
    ]
    columns = [fluid.layers.data(name=name, shape=[1], dtype="int64", lod_level=1) for name in names]
    feature_out = db_lstm(*columns)
    target = fluid.layers.data(name="target", shape=[1], dtype="int64", lod_level=1)
    crf_cost = fluid.layers.linear_chain_crf(
        input=feature_out, label=target, param_attr=fluid.ParamAttr(name="crfw", learning_rate=1e-1)
    )
    avg_cost = fluid.layers.mean(crf_cost)
    sgd_optimizer = fluid.optimizer.SGD(
        learning_rate=fluid.layers.exponential_decay(
            learning_rate=0.05, decay_steps=100000, decay_rate=0.5, staircase=True
        )
    )
    sgd_optimizer.minimize(avg_cost)
    crf_decode = fluid.layers.crf_decoding(input=feature_out, param_attr=fluid.ParamAttr(name="crfw"))
    place = fluid.CPUPlace()
    feeder = fluid.DataFeeder(feed_list=[*columns, target], place=place)
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    table = fluid.global_scope().find_var("emb").get_tensor()
    table.set(np.random.default_rng(1).normal(size=(WORDS, 4)).astype(np.float32), place)
    batch = feeder.feed(list(sentences_with_roles()))
    costs = told(lambda exe, _: exe.run(fluid.default_main_program(), feed=batch, fetch_list=[avg_cost]), 16)
    assert costs[-1, 0] < costs[0, 0]
    (path,) = exe.run(feed=batch, fetch_list=[crf_decode], return_numpy=False)
    assert path.lod() == batch["target"].lod()
    assert set(np.array(path).ravel().tolist()) <= set(range(LABELS))


def sentences_with_roles(count=6, seed=4):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        length = int(rng.integers(2, 6))
        words = rng.integers(0, WORDS, length).tolist()
        verb, contexts = int(rng.integers(0, 6)), rng.integers(0, WORDS, 5).tolist()
        marks = rng.integers(0, MARKS, length).tolist()
        yield (
            words,
            [verb] * length,
            *([each] * length for each in contexts),
            marks,
            [w % LABELS for w in words],
        )


def test_recommender_system_has_titles_of_many_words() -> None:
    title = fluid.layers.data(name="movie_title", shape=[1], dtype="int64", lod_level=1)
    category = fluid.layers.data(name="category_id", shape=[1], dtype="int64", lod_level=1)
    user = fluid.layers.data(name="user_id", shape=[1], dtype="int64")
    score = fluid.layers.data(name="score", shape=[1], dtype="float32")
    title_emb = fluid.layers.embedding(input=title, size=[DICT, EMB], is_sparse=False)
    title_conv = fluid.nets.sequence_conv_pool(
        input=title_emb, num_filters=EMB, filter_size=3, act="tanh", pool_type="sum"
    )
    category_emb = fluid.layers.embedding(input=category, size=[6, EMB], is_sparse=True)
    category_hidden = fluid.layers.sequence_pool(input=category_emb, pool_type="sum")
    movie = fluid.layers.fc(
        input=fluid.layers.concat(input=[category_hidden, title_conv], axis=1), size=16, act="tanh"
    )
    user_emb = fluid.layers.embedding(input=user, size=[10, EMB], param_attr="user_table", is_sparse=True)
    usr = fluid.layers.fc(input=user_emb, size=16, act="tanh")
    inference = fluid.layers.cos_sim(X=usr, Y=movie)
    scale_infer = fluid.layers.scale(x=inference, scale=5.0)
    avg_cost = fluid.layers.mean(fluid.layers.square_error_cost(input=scale_infer, label=score))
    test_program = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.SGD(learning_rate=0.05).minimize(avg_cost)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feeder = fluid.DataFeeder(feed_list=[title, category, user, score], place=fluid.CPUPlace())
    rng = np.random.default_rng(3)
    rows = [
        (
            rng.integers(0, DICT, rng.integers(1, 5)).tolist(),
            rng.integers(0, 6, rng.integers(1, 3)).tolist(),
            int(rng.integers(0, 10)),
            [float(rng.integers(1, 6))],
        )
        for _ in range(16)
    ]
    batch = feeder.feed(rows)
    losses = told(lambda exe, _: exe.run(feed=batch, fetch_list=[avg_cost]), 40)[:, 0]
    assert losses[-1] < losses[0] / 2
    (tested,) = exe.run(test_program, feed=batch, fetch_list=[avg_cost.name])
    (trained,) = exe.run(feed=batch, fetch_list=[avg_cost])  # of the parameters before its update
    assert tested == pytest.approx(trained)
    words = fluid.create_lod_tensor([[1, 2, 3]], [[3]], fluid.CPUPlace())
    kinds = fluid.create_lod_tensor(np.array([[1]]), [[1]], fluid.CPUPlace())
    feed = {"movie_title": words, "category_id": kinds, "user_id": np.array([[2]])}
    program = test_program._prune([test_program.global_block().var(scale_infer.name)])
    (said,) = exe.run(program, feed=feed, fetch_list=[scale_infer.name])
    assert said.shape == (1, 1)


def test_word2vec_shares_one_table() -> None:
    names = ("firstw", "secondw", "thirdw", "forthw")
    words = [fluid.layers.data(name=name, shape=[1], dtype="int64") for name in names]
    next_word = fluid.layers.data(name="nextw", shape=[1], dtype="int64")
    embeds = [
        fluid.layers.embedding(
            input=word, size=[DICT, EMB], dtype="float32", is_sparse=True, param_attr="shared_w"
        )
        for word in words
    ]
    concat_embed = fluid.layers.concat(input=embeds, axis=1)
    hidden1 = fluid.layers.fc(input=concat_embed, size=16, act="sigmoid")
    predict_word = fluid.layers.fc(input=hidden1, size=DICT, act="softmax")
    avg_cost = fluid.layers.mean(fluid.layers.cross_entropy(input=predict_word, label=next_word))
    fluid.optimizer.SGD(learning_rate=1.0).minimize(avg_cost)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feeder = fluid.DataFeeder(feed_list=[*words, next_word], place=fluid.CPUPlace())
    batch = feeder.feed([tuple((start + i) % DICT for i in range(5)) for start in range(DICT)])
    losses = told(lambda exe, _: exe.run(feed=batch, fetch_list=[avg_cost]), 150)[:, 0]
    assert losses[-1] < losses[0] / 2
    inferred = fluid.default_main_program().clone(for_test=True)
    given = [fluid.create_lod_tensor([[k]], [[1]], fluid.CPUPlace()) for k in range(4)]
    program = inferred._prune([predict_word.name])
    (said,) = exe.run(program, dict(zip(names, given, strict=True)), [predict_word.name], return_numpy=False)
    assert np.array(said).shape == (1, DICT)
