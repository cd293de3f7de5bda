"""What people wrote on fluid, and the rules of both fluid and 2.x."""

from __future__ import annotations

import numpy as np

import paddle
import paddle.fluid as fluid
from paddle.fluid import layers, nets

RNG = np.random.default_rng(1)
WORDS, COUNT = 500, 16


def trained(cost, optimizer, *feeds):
    optimizer.minimize(cost)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    test = fluid.default_main_program().clone(for_test=True)
    for feed in feeds:
        exe.run(feed=feed, fetch_list=[cost])
        exe.run(test, feed=feed, fetch_list=[cost])


def labelled(scores, classes):
    label = layers.data("label", [1], dtype="int64")
    layers.accuracy(input=scores, label=label)
    return layers.mean(layers.cross_entropy(input=scores, label=label)), {
        "label": RNG.integers(0, classes, (COUNT, 1))
    }


def sentences():
    lengths = RNG.integers(3, 20, COUNT).tolist()
    return fluid.create_lod_tensor(RNG.integers(0, WORDS, (sum(lengths), 1)), [lengths], fluid.CPUPlace())


def pictures() -> None:
    image = layers.data("image", [3, 32, 32])

    def convolved(input, filters, size, stride, padding, act):
        seen = layers.conv2d(input, filters, size, stride, padding, act=None, bias_attr=False)
        return layers.batch_norm(seen, act=act)

    first = convolved(image, 16, 3, 1, 1, "relu")
    inner = convolved(convolved(first, 32, 3, 2, 1, "relu"), 32, 3, 1, 1, None)
    block = layers.elementwise_add(convolved(first, 32, 1, 2, 0, None), inner, act="relu")
    pooled = layers.pool2d(block, 2, "max", 2)
    grouped = nets.img_conv_group(
        input=pooled,
        pool_size=2,
        pool_stride=2,
        conv_num_filter=[32, 32],
        conv_filter_size=3,
        conv_act="relu",
        conv_with_batchnorm=True,
        conv_batchnorm_drop_rate=[0.3, 0],
        pool_type="max",
    )
    everywhere = layers.pool2d(grouped, pool_type="avg", global_pooling=True)
    hidden = layers.batch_norm(layers.fc(layers.dropout(everywhere, 0.5), 512), act="relu")
    cost, fed = labelled(layers.fc(hidden, 10, act="softmax"), 10)
    fed |= {"image": RNG.random((COUNT, 3, 32, 32), np.float32)}
    trained(cost, fluid.optimizer.Momentum(0.01, 0.9, regularization=fluid.regularizer.L2Decay(1e-4)), fed)


def sentiment() -> None:
    word = layers.data("word", [1], dtype="int64", lod_level=1)
    rows = layers.embedding(word, [WORDS, 128], is_sparse=True)
    three = nets.sequence_conv_pool(rows, 128, 3, act="tanh", pool_type="sqrt")
    projected = layers.fc(rows, 512)
    lstm, cell = layers.dynamic_lstm(projected, 512)
    again, _ = layers.dynamic_lstm(layers.fc([projected, lstm], 512), 512, is_reverse=True)
    gru = layers.dynamic_gru(layers.fc(rows, 3 * 128), 128)
    most = [layers.sequence_pool(each, "max") for each in (lstm, again, gru)]
    average = layers.sequence_pool(rows, "average")
    last = layers.sequence_last_step(cell)
    cost, fed = labelled(layers.fc([three, *most, average, last], 2, act="softmax"), 2)
    trained(cost, fluid.optimizer.Adagrad(0.002), {**fed, "word": sentences()})


def roles() -> None:
    word = layers.data("word", [1], dtype="int64", lod_level=1)
    target = layers.data("target", [1], dtype="int64", lod_level=1)
    hidden = layers.fc(layers.embedding(word, [WORDS, 32]), 512, act="tanh")
    options = {"candidate_activation": "relu", "gate_activation": "sigmoid", "cell_activation": "sigmoid"}
    lstm, _ = layers.dynamic_lstm(hidden, 512, **options)
    back, _ = layers.dynamic_lstm(layers.fc([hidden, lstm], 512), 512, is_reverse=True, **options)
    scores = layers.sums([layers.fc(hidden, 59, act="tanh"), layers.fc(back, 59, act="tanh")])
    cost = layers.mean(layers.linear_chain_crf(scores, target, param_attr=fluid.ParamAttr(name="crfw")))
    decoded = layers.crf_decoding(scores, param_attr=fluid.ParamAttr(name="crfw"))
    layers.chunk_eval(decoded, target, "IOB", 29)
    words = sentences()
    tags = fluid.create_lod_tensor(
        np.asarray(words) % 59, words.recursive_sequence_lengths(), fluid.CPUPlace()
    )
    rate = layers.exponential_decay(0.01, 100000, 0.5, staircase=True)
    trained(cost, fluid.optimizer.SGD(rate), {"word": words, "target": tags})


def translation() -> None:
    source = layers.data("source", [1], dtype="int64", lod_level=1)
    target = layers.data("target", [1], dtype="int64", lod_level=1)
    following = layers.data("next", [1], dtype="int64", lod_level=1)
    rows = layers.embedding(source, [WORDS, 64], is_sparse=True)
    states, _ = layers.dynamic_lstm(layers.fc(rows, 512, act="tanh"), 512)
    context = layers.sequence_last_step(states)
    behind = layers.embedding(target, [WORDS, 64], is_sparse=True)
    rnn = layers.DynamicRNN()
    with rnn.block():
        current = rnn.step_input(behind)
        before = rnn.memory(init=context)
        state = layers.fc([current, before], 128, act="tanh")
        rnn.update_memory(before, state)
        rnn.output(layers.fc(state, WORDS, act="softmax"))
    cost = layers.mean(layers.cross_entropy(rnn(), following))
    words = sentences()
    trained(cost, fluid.optimizer.Adagrad(1e-3), {"source": sentences(), "target": words, "next": words})


def clicks() -> None:
    slots = [layers.data(f"slot{n}", [1], dtype="int64", lod_level=1) for n in range(3)]
    numbers = layers.data("numbers", [13])
    wide = [layers.sequence_pool(layers.embedding(slot, [WORDS, 1], is_sparse=True), "sum") for slot in slots]
    deep = [
        layers.sequence_pool(layers.embedding(slot, [WORDS, 10], is_sparse=True), "sum") for slot in slots
    ]
    hidden = layers.concat([*deep, numbers], axis=1)
    for _ in range(2):
        hidden = layers.fc(hidden, 400, act="relu")
    guess = layers.fc([hidden, *wide], 2, act="softmax")
    cost, fed = labelled(guess, 2)
    layers.auc(guess, layers.cast(fluid.default_main_program().global_block().var("label"), "int64"))
    fed |= {"numbers": RNG.random((COUNT, 13), np.float32)}
    fed |= {f"slot{n}": sentences() for n in range(3)}
    trained(cost, fluid.optimizer.Adam(1e-4, lazy_mode=True), fed)


def rules() -> None:
    """All of them, for a table whose rows come and go, and for what is dense."""
    o, p = fluid.optimizer, paddle.optimizer
    optimizers = [
        *(o.SGD(0.1), o.Momentum(0.1, 0.9), o.Momentum(0.1, 0.9, use_nesterov=True), o.Adagrad(0.1)),
        *(o.Adam(0.1), o.Adam(0.1, lazy_mode=True), o.Adamax(0.1), o.DecayedAdagrad(0.1), o.Adadelta(0.1)),
        *(o.RMSProp(0.1), o.RMSProp(0.1, centered=True, momentum=0.9), o.Ftrl(0.1), o.Lamb(0.1)),
        *(o.LarsMomentum(0.1, 0.9), p.AdamW(0.1), p.Lamb(0.1)),
    ]
    dense_only = (o.LarsMomentum, p.AdamW, p.Lamb, o.Lamb, o.Adamax, o.Adadelta, o.DecayedAdagrad, o.Ftrl)
    for optimizer in optimizers:
        for is_sparse in (False,) if isinstance(optimizer, dense_only) else (False, True):
            with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
                word = layers.data("word", [1], dtype="int64")
                rows = layers.embedding(word, [WORDS, 16], is_sparse=is_sparse)
                cost, fed = labelled(layers.fc(rows, 10, act="softmax"), 10)
                trained(cost, optimizer, {**fed, "word": RNG.integers(0, WORDS, (COUNT, 1))})


def in_doubles() -> None:
    """What is declared in float64 is computed in float32, and so by what is listed."""
    numbers = layers.data("numbers", [13], dtype="float64")
    hidden = layers.fc(layers.layer_norm(layers.fc(numbers, 64, act="relu")), 64, act="tanh")
    cost, fed = labelled(layers.fc(hidden, 10, act="softmax"), 10)
    trained(cost, fluid.optimizer.Adam(), fed | {"numbers": RNG.random((COUNT, 13))})


def all_of_them() -> None:
    paddle.enable_static()
    for program in (pictures, sentiment, roles, translation, clicks, rules, in_doubles):
        programs = fluid.program_guard(fluid.Program(), fluid.Program())
        with programs, fluid.unique_name.guard(), fluid.scope_guard(fluid.core.Scope()):
            program()
