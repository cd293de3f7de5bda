"""Lines of text read from images by attention (OCR): columns of a picture as a sequence, GRUs both ways, and
a decoder that looks at all of them at each letter. The distance to the truth is measured on the way, on the
host."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
LETTERS, TALL, WIDE, WIDTH, FIRST, LAST = 9, 8, 12, 6, 0, 1


def _columns(image: Any) -> Any:
    x = layers.conv2d(image, num_filters=4, filter_size=3, padding=1, bias_attr=False)
    x = layers.batch_norm(input=x, act="relu", moving_mean_name="mean", moving_variance_name="variance")
    x = layers.pool2d(input=x, pool_size=2, pool_type="max", pool_stride=2, ceil_mode=True)
    columns = layers.im2sequence(input=x, stride=[1, 1], filter_size=[x.shape[2], 1])
    forth, back = (layers.fc(input=columns, size=3 * WIDTH, bias_attr=False) for _ in range(2))
    bias = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.0), learning_rate=2.0)
    forth = layers.dynamic_gru(input=forth, size=WIDTH, bias_attr=bias, candidate_activation="relu")
    back = layers.dynamic_gru(
        input=back, size=WIDTH, is_reverse=True, bias_attr=bias, candidate_activation="relu"
    )
    return layers.concat(input=[forth, back], axis=1), layers.sequence_pool(input=back, pool_type="first")


def _attended(state: Any, seen: Any, asked: Any) -> Any:
    wanted = layers.sequence_expand(x=layers.fc(state, WIDTH, bias_attr=False), y=asked)
    weights = layers.fc(input=asked + wanted, size=1, act="tanh", bias_attr=False)
    weights = layers.reshape(x=layers.sequence_softmax(input=weights), shape=[-1])
    return layers.sequence_pool(input=layers.elementwise_mul(x=seen, y=weights, axis=0), pool_type="sum")


def network() -> Any:
    """The cost of a batch, and the measure."""
    image = layers.data(name="image", shape=[1, TALL, WIDE])
    said, saying = (layers.data(name, [1], dtype="int32", lod_level=1) for name in ("said", "saying"))
    seen, last = _columns(image)
    asked = layers.fc(input=seen, size=WIDTH, bias_attr=False)
    start = layers.fc(input=last, size=WIDTH, bias_attr=False, act="relu")
    letters = layers.embedding(input=layers.cast(x=said, dtype="int64"), size=[LETTERS, 5])
    steps = layers.DynamicRNN()
    with steps.block():
        letter, parts, keys = steps.step_input(letters), steps.static_input(seen), steps.static_input(asked)
        state = steps.memory(init=start, need_reorder=True)
        context = _attended(state, parts, keys)
        gates = layers.fc(context, 3 * WIDTH, bias_attr=False) + layers.fc(letter, 3 * WIDTH, bias_attr=False)
        now, _, _ = layers.gru_unit(input=gates, hidden=state, size=3 * WIDTH)
        steps.update_memory(state, now)
        steps.output(layers.fc(input=now, size=LETTERS, act="softmax"))
    guessed, truth = steps(), layers.cast(x=saying, dtype="int64")
    _, best = layers.topk(input=guessed, k=1)
    far = fluid.evaluator.EditDistance(input=best, label=truth, ignored_tokens=[FIRST, LAST])
    return layers.reduce_sum(layers.cross_entropy(input=guessed, label=truth)), far


def batch(draw: Any) -> dict[str, Any]:
    """Pictures of noise, and what is to be read in them."""
    texts = [draw.randint(2, LETTERS, draw.randint(1, 4)).tolist() for _ in range(3)]
    lengths = [[len(text) + 1 for text in texts]]

    def lines(parts: list[list[int]]) -> Any:
        rows = np.array([letter for part in parts for letter in part], "int32").reshape(-1, 1)
        return fluid.create_lod_tensor(rows, lengths, fluid.CPUPlace())

    return {
        "image": draw.randn(3, 1, TALL, WIDE).astype("float32"),
        "said": lines([[FIRST, *text] for text in texts]),
        "saying": lines([[*text, LAST] for text in texts]),
    }


def costs(steps: int) -> list[float]:
    """Of each step, then the mean distance, and what a test costs by the statistics that training moved."""
    cost, far = network()
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.Adam(learning_rate=0.01).minimize(cost)
    exe, draw = fluid.Executor(fluid.CPUPlace()), np.random.RandomState(0)
    exe.run(fluid.default_startup_program())
    begin(fluid.default_main_program(), 0.2)
    far.reset(exe)
    found = [number(exe.run(feed=batch(draw), fetch_list=[cost, *far.metrics])[0]) for _ in range(steps)]
    distance = number(far.eval(exe)[0])
    return [*found, distance, number(exe.run(test, feed=batch(draw), fetch_list=[cost])[0])]
