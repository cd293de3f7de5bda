"""The chapters of the book as programs of our own, on little data with something planted in it: each learns
what was planted, and says so of samples that it has not seen."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle

WORDS = 12
dense, ids = paddle.data_type.dense_vector, paddle.data_type.integer_value
sequence = paddle.data_type.integer_value_sequence


def slot(name, type):
    return paddle.layer.data(name=name, type=type)


class Chapter:
    """A network that is trained for so many passes; ``costs``: of each pass, per batch."""

    def __init__(
        self, cost, samples, passes=6, rate=0.01, optimizer=None, extra=None, batch=20, feeding=None
    ):
        self.costs, self.metrics = [], []
        self.parameters = paddle.parameters.create(cost)
        optimizer = optimizer or paddle.optimizer.Adam(learning_rate=rate)
        self.trainer = paddle.trainer.SGD(cost, self.parameters, optimizer, extra_layers=extra)
        self.trainer.train(
            paddle.batch(paddle.reader.shuffle(lambda: iter(samples), 1000), batch),
            num_passes=passes,
            event_handler=self._hear,
            feeding=feeding,
        )

    def _hear(self, event):
        if isinstance(event, paddle.event.BeginPass):
            self.costs.append([])
        if isinstance(event, paddle.event.EndIteration):
            self.costs[-1].append(event.cost)
        if isinstance(event, paddle.event.EndPass):
            self.metrics.append(event.metrics)

    def falls_to(self, share):
        return np.mean(self.costs[-1]) < share * np.mean(self.costs[0])

    def says(self, output, samples, **options):
        return paddle.infer(output_layer=output, parameters=self.parameters, input=samples, **options)


@pytest.fixture(autouse=True)
def seeded():
    paddle.init(seed=7)
    np.random.seed(7)


def test_fit_a_line() -> None:
    rng = np.random.default_rng(1)
    slopes = rng.normal(size=13)
    samples = [(x, [x @ slopes + 2]) for x in rng.normal(size=(200, 13))]
    predicted = paddle.layer.fc(slot("x", dense(13)), size=1, act=paddle.activation.Linear())
    cost = paddle.layer.square_error_cost(input=predicted, label=slot("y", dense(1)))
    chapter = Chapter(cost, samples, passes=20, optimizer=paddle.optimizer.Momentum(learning_rate=0.002))
    assert chapter.falls_to(0.01)
    found = chapter.says(predicted, [(x,) for x in np.eye(13)])
    np.testing.assert_allclose(found[:, 0], slopes + 2, atol=0.1)


def strokes(rng, count):
    """Images of 8 x 8: a line across (0), down (1), or both (2)."""
    for _ in range(count):
        pixels, kind = rng.normal(size=(8, 8)) * 0.2, int(rng.integers(3))
        if kind != 1:
            pixels[rng.integers(8)] += 1
        if kind != 0:
            pixels[:, rng.integers(8)] += 1
        yield pixels.ravel().astype(np.float32), kind


def mlp(image):
    hidden = paddle.layer.fc(input=image, size=64, act=paddle.activation.Relu())
    return paddle.layer.fc(input=hidden, size=32, act=paddle.activation.Relu())


def lenet(image):
    return paddle.networks.simple_img_conv_pool(
        input=image,
        filter_size=3,
        num_filters=8,
        num_channel=1,
        pool_size=2,
        pool_stride=2,
        act=paddle.activation.Relu(),
    )


def vgg(image):
    drop = paddle.networks.img_conv_group(
        input=image,
        num_channels=1,
        pool_size=2,
        pool_stride=2,
        conv_num_filter=[8, 8],
        conv_filter_size=3,
        conv_act=paddle.activation.Relu(),
        conv_with_batchnorm=True,
        conv_batchnorm_drop_rate=[0.1, 0],
        pool_type=paddle.pooling.Max(),
    )
    hidden = paddle.layer.fc(input=drop, size=16, act=paddle.activation.Linear())
    return paddle.layer.batch_norm(
        input=hidden, act=paddle.activation.Relu(), layer_attr=paddle.attr.Extra(drop_rate=0.1)
    )


def conv_bn(input, filters, stride, act, channels=None):
    seen = paddle.layer.img_conv(
        input=input,
        filter_size=3,
        num_channels=channels,
        num_filters=filters,
        stride=stride,
        padding=1,
        act=paddle.activation.Linear(),
        bias_attr=False,
    )
    return paddle.layer.batch_norm(input=seen, act=act)


def resnet(image):
    """A block around which there is a way that is convolved, and one around which there is a free way."""
    relu, linear = paddle.activation.Relu(), paddle.activation.Linear()
    first = conv_bn(image, 8, 1, relu, channels=1)
    inner = conv_bn(conv_bn(first, 16, 2, relu), 16, 1, linear)
    block = paddle.layer.addto(input=[inner, conv_bn(first, 16, 2, linear)], act=relu)
    again = paddle.layer.addto(input=[conv_bn(block, 16, 1, linear), block], act=relu)
    return paddle.layer.img_pool(input=again, pool_size=4, stride=1, pool_type=paddle.pooling.Avg())


@pytest.mark.parametrize("network", [mlp, lenet, vgg, resnet])
def test_recognize_digits_and_image_classification(network) -> None:
    rng = np.random.default_rng(2)
    image, label = slot("pixel", dense(64)), slot("label", ids(3))
    predicted = paddle.layer.fc(input=network(image), size=3, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=predicted, label=label)
    chapter = Chapter(cost, list(strokes(rng, 240)), passes=5)
    assert chapter.falls_to(0.6)
    held = list(strokes(rng, 60))
    said = chapter.says(predicted, [row[:1] for row in held]).argmax(1)
    assert np.mean(said != [kind for _, kind in held]) < 0.2


def ngrams(rng, count):
    """Four words, and a fifth that follows from the first and the last of them."""
    for words in rng.integers(0, WORDS, (count, 4)).tolist():
        yield (*words, (words[0] + words[3]) % WORDS if words[1] % 2 else words[0])


def embedded(words):
    table = paddle.attr.Param(name="_proj", initial_std=0.3, learning_rate=1)
    return paddle.layer.concat(
        input=[paddle.layer.table_projection(input=word, size=8, param_attr=table) for word in words]
    )


@pytest.mark.parametrize("kind", ["softmax", "nce", "hsigmoid"])
def test_word2vec(kind) -> None:
    words = [slot(name, ids(WORDS)) for name in ("first", "second", "third", "fourth")]
    label = slot("fifth", ids(WORDS))
    hidden = paddle.layer.fc(input=embedded(words), size=64, act=paddle.activation.Tanh())
    if kind == "nce":
        even = [1 / WORDS] * WORDS
        w, b = paddle.attr.Param(name="nce_w"), paddle.attr.Param(name="nce_b")
        cost = paddle.layer.nce(
            input=hidden,
            label=label,
            num_classes=WORDS,
            param_attr=w,
            bias_attr=b,
            num_neg_samples=5,
            neg_distribution=even,
        )
        scores = paddle.layer.trans_full_matrix_projection(input=hidden, param_attr=w)
        predicted = paddle.layer.mixed(size=WORDS, input=scores, act=paddle.activation.Softmax(), bias_attr=b)
    elif kind == "hsigmoid":
        cost = paddle.layer.hsigmoid(input=hidden, label=label, num_classes=WORDS)
        predicted = None
    else:
        predicted = paddle.layer.fc(input=hidden, size=WORDS, act=paddle.activation.Softmax())
        cost = paddle.layer.classification_cost(input=predicted, label=label)
    rng = np.random.default_rng(3)
    chapter = Chapter(cost, list(ngrams(rng, 1200)), passes=20 if kind == "nce" else 12, batch=30)
    assert chapter.falls_to(0.6), [float(np.mean(c)) for c in chapter.costs]
    if predicted is not None:
        held = list(ngrams(rng, 100))
        said = chapter.says(predicted, [row[:4] for row in held])
        assert np.mean(said.argmax(1) == [row[4] for row in held]) > 0.5


def test_recommender_system() -> None:
    """Users like films of their kind: which kind they are of follows from their number, by threes."""
    rng, users, films = np.random.default_rng(4), 12, 9
    user = paddle.layer.fc(
        input=[
            paddle.layer.fc(paddle.layer.embedding(input=slot("user_id", ids(users)), size=8), size=8),
            paddle.layer.fc(paddle.layer.embedding(input=slot("gender_id", ids(2)), size=4), size=4),
        ],
        size=16,
        act=paddle.activation.Tanh(),
    )
    title = paddle.layer.embedding(input=slot("movie_title", sequence(WORDS)), size=8)
    film = paddle.layer.fc(
        input=[
            paddle.layer.fc(paddle.layer.embedding(input=slot("movie_id", ids(films)), size=8), size=8),
            paddle.layer.fc(input=slot("category_id", paddle.data_type.sparse_binary_vector(4)), size=8),
            paddle.networks.sequence_conv_pool(input=title, hidden_size=8, context_len=3),
        ],
        size=16,
        act=paddle.activation.Tanh(),
    )
    likes = paddle.layer.cos_sim(a=user, b=film, size=1, scale=5)
    cost = paddle.layer.square_error_cost(input=likes, label=slot("score", dense(1)))

    def rows(count):
        for _ in range(count):
            who, what = int(rng.integers(users)), int(rng.integers(films))
            words = rng.integers(0, WORDS, rng.integers(1, 5)).tolist()
            score = 4.0 if who % 3 == what % 3 else -4.0
            yield who, who % 2, what, [what % 3, 3], words, [score]

    order = dict(
        zip(
            ("user_id", "gender_id", "movie_id", "category_id", "movie_title", "score"), range(6), strict=True
        )
    )
    chapter = Chapter(cost, list(rows(600)), batch=30, feeding=order)
    assert chapter.falls_to(0.15)
    held = list(rows(50))
    del order["score"]
    said = chapter.says(likes, held, feeding=order)
    assert (np.sign(said[:, 0]) == np.sign([row[-1][0] for row in held])).mean() > 0.95


def convolved(table):
    three = paddle.networks.sequence_conv_pool(input=table, context_len=3, hidden_size=16)
    four = paddle.networks.sequence_conv_pool(input=table, context_len=4, hidden_size=16)
    return [three, four]


def stacked(table):
    """Three layers that remember, each against the direction of the one below."""
    linear = paddle.activation.Linear()
    hidden = paddle.layer.fc(input=table, size=32, act=linear)
    inputs = [hidden, paddle.layer.lstmemory(input=hidden)]
    for reverse in (True, False):
        hidden = paddle.layer.fc(input=inputs, size=32, act=linear)
        inputs = [hidden, paddle.layer.lstmemory(input=hidden, reverse=reverse)]
    return [paddle.layer.pooling(input=each, pooling_type=paddle.pooling.Max()) for each in inputs]


@pytest.mark.parametrize("network", [convolved, stacked])
def test_understand_sentiment(network) -> None:
    """A sentence is good where a good word stands in it that no "not" stands before."""
    rng, good, no = np.random.default_rng(5), 1, 0

    def rows(count):
        for _ in range(count):
            words = rng.integers(2, WORDS, rng.integers(3, 9)).tolist()
            kind = int(rng.integers(3))
            place = int(rng.integers(1, len(words)))
            words[place - 1 : place + 1] = [[no, good], [2, good], words[place - 1 : place + 1]][kind]
            yield words, int(kind == 1)

    table = paddle.layer.embedding(input=slot("word", sequence(WORDS)), size=8)
    label = slot("label", ids(2))
    predicted = paddle.layer.fc(input=network(table), size=2, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=predicted, label=label)
    chapter = Chapter(cost, list(rows(500)), passes=6)
    assert chapter.falls_to(0.4)
    held = list(rows(60))
    said = chapter.says(predicted, [row[:1] for row in held]).argmax(1)
    assert np.mean(said != [kind for _, kind in held]) < 0.15


TAGS = {"B": 0, "I": 1, "O": 2}


def roles(rng, count):
    """After word 0 the next two words are one chunk, whatever they are; the predicate says whether so."""
    for _ in range(count):
        words = rng.integers(1, WORDS, rng.integers(4, 10)).tolist()
        verb, place = int(rng.integers(2)), int(rng.integers(0, len(words) - 3))
        words[place] = 0
        tags = [TAGS["O"]] * len(words)
        if verb:
            tags[place + 1 : place + 3] = [TAGS["B"], TAGS["I"]]
        yield words, [verb] * len(words), [int(w == 0) for w in words], tags


def test_label_semantic_roles() -> None:
    fixed = paddle.attr.Param(name="emb", initial_std=0.5, is_static=True)
    std = paddle.attr.Param(initial_std=0.3)
    parts = [
        paddle.layer.embedding(input=slot("word", sequence(WORDS)), size=8, param_attr=fixed),
        paddle.layer.embedding(input=slot("verb", sequence(2)), size=4, param_attr=std),
        paddle.layer.embedding(input=slot("mark", sequence(2)), size=4, param_attr=std),
    ]
    hidden = paddle.layer.mixed(
        size=32,
        bias_attr=std,
        input=[paddle.layer.full_matrix_projection(input=part, param_attr=std) for part in parts],
    )
    mixes = [hidden, paddle.layer.lstmemory(input=hidden, bias_attr=std)]
    deeper = paddle.layer.mixed(
        size=32, input=[paddle.layer.full_matrix_projection(input=each, param_attr=std) for each in mixes]
    )
    mixes = [deeper, paddle.layer.lstmemory(input=deeper, reverse=True, bias_attr=std)]
    scores = paddle.layer.mixed(
        size=3, input=[paddle.layer.full_matrix_projection(input=each, param_attr=std) for each in mixes]
    )
    label, shared = slot("target", sequence(3)), paddle.attr.Param(name="crfw", initial_std=0.3)
    cost = paddle.layer.crf(size=3, input=scores, label=label, param_attr=shared)
    decoded = paddle.layer.crf_decoding(size=3, input=scores, label=label, param_attr=shared)
    paddle.evaluator.sum(input=decoded, name="errors")
    paddle.evaluator.chunk(input=decoded, label=label, chunk_scheme="IOB", num_chunk_types=1, name="chunks")
    rng = np.random.default_rng(6)
    chapter = Chapter(cost, list(roles(rng, 300)), passes=6, rate=0.02, extra=decoded)
    assert chapter.falls_to(0.2)
    assert chapter.metrics[-1]["errors"] < 0.1 < chapter.metrics[0]["errors"]
    held = list(roles(rng, 50))
    tested = chapter.trainer.test(lambda: iter([held])).metrics
    assert tested["chunks.F1-score"] > 0.85
    said = chapter.says(
        paddle.layer.crf_decoding(size=3, input=scores, param_attr=shared),
        [row[:3] for row in held],
        field="id",
    )
    assert np.mean(said != np.concatenate([row[3] for row in held])) == pytest.approx(tested["errors"])
