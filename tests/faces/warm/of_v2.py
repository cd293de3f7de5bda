"""The book's chapters on v2."""

from __future__ import annotations

import numpy as np

import paddle.v2 as paddle
from paddle.v2 import activation, data_type, layer, networks, pooling

RNG = np.random.default_rng(1)
WORDS, COUNT = 500, 40
dense, integer, sequence = data_type.dense_vector, data_type.integer_value, data_type.integer_value_sequence


def trained(cost, samples, optimizer=None, batch=16, **how):
    parameters = paddle.parameters.create(cost)
    optimizer = optimizer or paddle.optimizer.Momentum(momentum=0.9, learning_rate=1e-3)
    trainer = paddle.trainer.SGD(cost, parameters, optimizer, **how)
    trainer.train(paddle.batch(lambda: iter(samples), batch), num_passes=1)
    trainer.test(paddle.batch(lambda: iter(samples), batch))
    return parameters


def classified(scores, classes, samples, **how):
    label = layer.data(name="label", type=integer(classes))
    guess = layer.fc(input=scores, size=classes, act=activation.Softmax())
    return trained(layer.classification_cost(input=guess, label=label), samples, **how)


def sentence():
    return RNG.integers(0, WORDS, RNG.integers(3, 20)).tolist()


def a_line() -> None:
    x, y = layer.data(name="x", type=dense(13)), layer.data(name="y", type=dense(1))
    cost = layer.square_error_cost(input=layer.fc(input=x, size=1, act=activation.Linear()), label=y)
    trained(cost, [(RNG.random(13), [1.0])] * COUNT, paddle.optimizer.Momentum(momentum=0))


def digits() -> None:
    samples = [(RNG.random(784, np.float32), n % 10) for n in range(300)]
    image = layer.data(name="pixel", type=dense(784))
    hidden = layer.fc(input=image, size=128, act=activation.Relu())
    classified(layer.fc(input=hidden, size=64, act=activation.Tanh()), 10, samples, batch=128)
    seen, channels = image, 1
    for filters in (20, 50):
        seen = networks.simple_img_conv_pool(
            input=seen,
            filter_size=5,
            num_filters=filters,
            num_channel=channels,
            pool_size=2,
            pool_stride=2,
            act=activation.Relu(),
        )
        channels = filters
    classified(seen, 10, samples, optimizer=paddle.optimizer.Adam(), batch=64)


def convolved(input, filters, channels, stride, act):
    seen = layer.img_conv(
        input=input,
        filter_size=3,
        num_channels=channels,
        num_filters=filters,
        stride=stride,
        padding=1,
        act=activation.Linear(),
        bias_attr=False,
    )
    return layer.batch_norm(input=seen, act=act)


def pictures() -> None:
    samples = [(RNG.random(3072, np.float32), n % 10) for n in range(COUNT)]
    image = layer.data(name="image", type=dense(3072))
    drop = networks.img_conv_group(
        input=image,
        num_channels=3,
        pool_size=2,
        pool_stride=2,
        conv_num_filter=[16, 16],
        conv_filter_size=3,
        conv_act=activation.Relu(),
        conv_with_batchnorm=True,
        conv_batchnorm_drop_rate=[0.3, 0],
        pool_type=pooling.Max(),
    )
    hidden = layer.fc(input=layer.dropout(input=drop, dropout_rate=0.5), size=64, act=activation.Linear())
    dropped = paddle.attr.Extra(drop_rate=0.5)
    classified(layer.batch_norm(input=hidden, act=activation.Relu(), layer_attr=dropped), 10, samples)
    first = convolved(image, 16, 3, 1, activation.Relu())
    inner = convolved(convolved(first, 32, 16, 2, activation.Relu()), 32, 32, 1, activation.Linear())
    block = layer.addto(
        input=[inner, convolved(first, 32, 16, 2, activation.Linear())], act=activation.Relu()
    )
    classified(layer.img_pool(input=block, pool_size=8, stride=1, pool_type=pooling.Avg()), 10, samples)


def next_words() -> None:
    table = paddle.attr.Param(name="_proj", initial_std=0.001, learning_rate=1, l2_rate=0, sparse_update=True)
    words = [layer.data(name=f"word{n}", type=integer(WORDS)) for n in range(4)]
    rows = layer.concat(
        input=[layer.table_projection(input=word, size=32, param_attr=table) for word in words]
    )
    hidden = layer.fc(input=rows, size=256, act=activation.Sigmoid())
    samples = [tuple(RNG.integers(0, WORDS, 5).tolist()) for _ in range(300)]
    adagrad = paddle.optimizer.AdaGrad(
        learning_rate=3e-3, regularization=paddle.optimizer.L2Regularization(8e-4)
    )
    for batch in (32, 300):
        classified(hidden, WORDS, samples, optimizer=adagrad, batch=batch)
    label = layer.data(name="label", type=integer(WORDS))
    trained(layer.nce(input=hidden, label=label, num_classes=WORDS), samples)
    trained(layer.hsigmoid(input=hidden, label=label, num_classes=WORDS), samples)


def films() -> None:
    def embedded(name, size):
        return layer.fc(layer.embedding(input=layer.data(name=name, type=integer(size)), size=32), size=32)

    user = layer.fc(
        input=[embedded("user_id", 60), embedded("gender_id", 2)], size=200, act=activation.Tanh()
    )
    title = layer.embedding(input=layer.data(name="title", type=sequence(WORDS)), size=32)
    kinds = layer.data(name="kinds", type=data_type.sparse_binary_vector(18))
    parts = [
        embedded("movie_id", 90),
        layer.fc(input=kinds, size=32),
        networks.sequence_conv_pool(input=title, hidden_size=32, context_len=3),
    ]
    film = layer.fc(input=parts, size=200, act=activation.Tanh())
    score = layer.data(name="score", type=dense(1))
    cost = layer.square_error_cost(input=layer.cos_sim(a=user, b=film, size=1, scale=5), label=score)
    samples = [(n % 60, n % 2, n % 90, sentence(), [n % 18, 3], [4.0]) for n in range(COUNT)]
    order = {"user_id": 0, "gender_id": 1, "movie_id": 2, "title": 3, "kinds": 4, "score": 5}
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=1e-4))
    trainer.train(paddle.batch(lambda: iter(samples), 16), num_passes=1, feeding=order)


def sentiment() -> None:
    samples = [(sentence(), n % 2) for n in range(COUNT)]
    table = layer.embedding(input=layer.data(name="word", type=sequence(WORDS)), size=128)
    three, four = (networks.sequence_conv_pool(input=table, context_len=n, hidden_size=128) for n in (3, 4))
    classified([three, four], 2, samples, optimizer=paddle.optimizer.Adam(learning_rate=2e-3))
    hidden = layer.fc(input=table, size=512, act=activation.Linear())
    below = [hidden, layer.lstmemory(input=hidden, act=activation.Relu())]
    for reverse in (True, False):
        hidden = layer.fc(input=below, size=512, act=activation.Linear())
        below = [hidden, layer.lstmemory(input=hidden, reverse=reverse, act=activation.Relu())]
    most = [layer.pooling(input=each, pooling_type=pooling.Max()) for each in below]
    classified(most, 2, samples)
    classified(layer.last_seq(networks.simple_lstm(input=table, size=128)), 2, samples)
    classified(layer.last_seq(networks.simple_gru(input=table, size=128)), 2, samples)
    both = networks.bidirectional_lstm(input=table, size=64)
    classified(layer.pooling(input=table, pooling_type=pooling.Avg()), 2, samples)
    classified(both, 2, samples)


def roles() -> None:
    words = layer.embedding(input=layer.data(name="word", type=sequence(WORDS)), size=32)
    mark = layer.embedding(input=layer.data(name="mark", type=sequence(2)), size=5)

    def mixed(inputs, size):
        return layer.mixed(size=size, input=[layer.full_matrix_projection(input=each) for each in inputs])

    hidden = mixed([words, mark], 512)
    below = [hidden, layer.lstmemory(input=hidden, act=activation.Relu(), gate_act=activation.Sigmoid())]
    for reverse in (True, False):
        hidden = mixed(below, 512)
        below = [hidden, layer.lstmemory(input=hidden, reverse=reverse, act=activation.Relu())]
    scores, shared = mixed(below, 59), paddle.attr.Param(name="crfw")
    label = layer.data(name="target", type=sequence(59))
    cost = layer.crf(size=59, input=scores, label=label, param_attr=shared)
    decoded = layer.crf_decoding(size=59, input=scores, label=label, param_attr=shared)
    paddle.evaluator.sum(input=decoded, name="errors")
    paddle.evaluator.chunk(input=decoded, label=label, chunk_scheme="IOB", num_chunk_types=29, name="chunks")
    samples = [
        (each, [n % 2 for n in each], [n % 59 for n in each]) for each in (sentence() for _ in range(COUNT))
    ]
    trained(cost, samples, extra_layers=decoded)


def translation() -> None:
    size, table = 128, "_target_language_embedding"
    named = [paddle.attr.Param(name=f"decoder_w{n}") for n in range(4)]
    source = layer.embedding(input=layer.data(name="source", type=sequence(WORDS)), size=size)
    forth = networks.simple_gru(input=source, size=size)
    back = networks.simple_gru(input=source, size=size, reverse=True)
    encoded = layer.concat(input=[forth, back])
    projected = layer.mixed(size=size, input=layer.full_matrix_projection(encoded))
    first = layer.fc(input=layer.first_seq(input=back), size=size, act=activation.Tanh(), bias_attr=False)

    def step(encoded, projected, word):
        state = layer.memory(name="decoder", size=size, boot_layer=first)
        context = networks.simple_attention(
            name="attention", encoded_sequence=encoded, encoded_proj=projected, decoder_state=state
        )
        both = [
            layer.full_matrix_projection(input=each, param_attr=own)
            for each, own in zip((context, word), named, strict=False)
        ]
        inputs = layer.mixed(size=size * 3, input=both)
        out = layer.gru_step(name="decoder", input=inputs, output_mem=state, size=size)
        return layer.mixed(
            size=WORDS,
            input=layer.full_matrix_projection(input=out, param_attr=named[2]),
            bias_attr=named[3],
            act=activation.Softmax(),
        )

    given = [layer.StaticInput(input=encoded), layer.StaticInput(input=projected)]
    target = layer.embedding(
        input=layer.data(name="target", type=sequence(WORDS)),
        size=size,
        param_attr=paddle.attr.Param(name=table),
    )
    said = layer.recurrent_group(name="group", step=step, input=[*given, target])
    label = layer.data(name="next", type=sequence(WORDS))
    samples = [(sentence(), each, each) for each in (sentence() for _ in range(COUNT))]
    cost = layer.classification_cost(input=said, label=label)
    parameters = trained(cost, samples, optimizer=paddle.optimizer.Adam(learning_rate=5e-5))
    generated = layer.GeneratedInput(size=WORDS, embedding_name=table, embedding_size=size)
    beam = layer.beam_search(
        name="group", step=step, input=[*given, generated], bos_id=0, eos_id=1, beam_size=3, max_length=8
    )
    paddle.infer(output_layer=beam, parameters=parameters, input=[(sentence(),)] * 2, field=["prob", "id"])


def rules() -> None:
    """All of them, for a table whose rows come and go, and for what is dense."""
    o = paddle.optimizer
    optimizers = [
        *(o.Momentum(momentum=n) for n in (0, 0.9)),
        *(o.AdaGrad(), o.Adam(), o.Adamax(), o.DecayedAdaGrad(), o.RMSProp(), o.AdaDelta()),
        o.Adam(regularization=o.L2Regularization(1e-3), gradient_clipping_threshold=5),
    ]
    samples = [(n % WORDS, n % 10) for n in range(COUNT)]
    for number, optimizer in enumerate(optimizers):
        for is_sparse in (False, True):
            table = paddle.attr.Param(name=f"table{number}{is_sparse}", sparse_update=is_sparse)
            word = layer.data(name="word", type=integer(WORDS))
            rows = layer.embedding(input=word, size=16, param_attr=table)
            classified(rows, 10, samples, optimizer=optimizer)


def all_of_them() -> None:
    for program in (a_line, digits, pictures, next_words, films, sentiment, roles, translation, rules):
        program()
