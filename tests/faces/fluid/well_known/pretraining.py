"""Masked words and following sentences, as BERT is trained: a reader of its own, a rate that warms up and
then falls (Switch), clipped gradients, and weights that decay by an assignment behind the optimizer's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
WORDS, LONGEST, WIDTH, HEADS, MASK = 23, 16, 8, 2, 3
RATE, WARM, STEPS, DECAY = 0.02, 3, 30, 0.01


def _fc(x: Any, size: int, name: str, axes: int = 2, act: Any = None) -> Any:
    weights = fluid.ParamAttr(name + ".w_0", initializer=fluid.initializer.TruncatedNormal(scale=0.02))
    return layers.fc(
        input=x, size=size, num_flatten_dims=axes, param_attr=weights, bias_attr=name + ".b_0", act=act
    )


def _normal(x: Any, name: str) -> Any:
    scale, bias = fluid.ParamAttr(name + "_layer_norm_scale"), fluid.ParamAttr(name + "_layer_norm_bias")
    return layers.layer_norm(x, begin_norm_axis=len(x.shape) - 1, param_attr=scale, bias_attr=bias)


def _layer(x: Any, bias: Any, name: str) -> Any:
    def heads(what: str) -> Any:
        each = layers.reshape(_fc(x, WIDTH, name + what), shape=[0, 0, HEADS, WIDTH // HEADS])
        return layers.transpose(each, perm=[0, 2, 1, 3])

    query = layers.scale(heads("_query"), scale=(WIDTH // HEADS) ** -0.5)
    weights = layers.softmax(layers.matmul(query, heads("_key"), transpose_y=True) + bias)
    mixed = layers.transpose(layers.matmul(weights, heads("_value")), perm=[0, 2, 1, 3])
    joined = layers.reshape(mixed, shape=[0, 0, mixed.shape[2] * mixed.shape[3]])
    x = _normal(_fc(joined, WIDTH, name + "_out") + x, name + "_att")
    wide = _fc(x, 4 * WIDTH, name + "_ffn_0", act="gelu")
    return _normal(_fc(wide, WIDTH, name + "_ffn_1") + x, name + "_ffn")


def network(fields: list[Any]) -> Any:
    """The cost of both tasks."""
    words, places, sentences, mask, hidden, hidden_at, follows = fields
    tables = (
        ("word_embedding", words, WORDS),
        ("pos_embedding", places, 64),
        ("sent_embedding", sentences, 2),
    )
    parts = [
        layers.embedding(ids, size=[n, WIDTH], param_attr=fluid.ParamAttr(name)) for name, ids, n in tables
    ]
    x = _normal(parts[0] + parts[1] + parts[2], "pre_encoder")
    pairs = layers.matmul(mask, mask, transpose_y=True)
    bias = layers.scale(pairs, scale=10000.0, bias=-1.0, bias_after_scale=False)
    bias = layers.stack(x=[bias] * HEADS, axis=1)
    bias.stop_gradient = True
    x = _layer(_layer(x, bias, "layer_0"), bias, "layer_1")
    rows = layers.gather(layers.reshape(x, shape=[-1, WIDTH]), index=layers.cast(hidden_at, "int32"))
    rows = _normal(_fc(rows, WIDTH, "trans", 1, "gelu"), "trans")
    table = fluid.default_main_program().global_block().var("word_embedding")
    scores = layers.matmul(rows, table, transpose_y=True)
    zeros = fluid.ParamAttr("out.b_0", initializer=fluid.initializer.Constant(0.0))
    scores += layers.create_parameter(shape=[WORDS], dtype="float32", attr=zeros, is_bias=True)
    guessed = layers.mean(layers.softmax_with_cross_entropy(scores, hidden))
    first = _fc(layers.slice(x, axes=[1], starts=[0], ends=[1]), WIDTH, "pooled", 1, "tanh")
    told, shares = layers.softmax_with_cross_entropy(_fc(first, 2, "next", 1), follows, return_softmax=True)
    layers.accuracy(input=shares, label=follows)
    return guessed + layers.mean(told)


def _rate() -> Any:
    rate = layers.create_global_var([1], 0.0, "float32", persistable=True, name="scheduled_learning_rate")
    step = layers.learning_rate_scheduler._decay_step_counter()
    with layers.control_flow.Switch() as switch:
        with switch.case(step < WARM):
            layers.assign(RATE * (step / WARM), rate)
        with switch.default():
            falling = layers.polynomial_decay(RATE, STEPS, end_learning_rate=0.0, power=1.0, cycle=False)
            layers.assign(falling, rate)
    return rate


def _learn(cost: Any) -> None:
    program, rate = fluid.default_main_program(), _rate()
    optimizer = fluid.optimizer.Adam(learning_rate=rate)
    optimizer._learning_rate_map[program] = rate
    fluid.clip.set_gradient_clip(fluid.clip.GradientClipByGlobalNorm(clip_norm=1.0))
    before = {each.name: each * 1.0 for each in program.global_block().all_parameters()}
    for each in before.values():
        each.stop_gradient = True
    for parameter, gradient in optimizer.minimize(cost)[1]:
        if "layer_norm" in parameter.name or parameter.name.endswith(".b_0"):
            continue
        with program._optimized_guard([parameter, gradient]), fluid.framework.name_scope("decay"):
            layers.assign(parameter - before[parameter.name] * DECAY * rate, output=parameter)


def batches(many: int) -> Iterator[list[np.ndarray]]:
    """Words that count up from a first one, of which two are hidden."""
    draw = np.random.RandomState(0)
    for _ in range(many):
        lengths = draw.randint(5, 11, 4)
        long, follows = lengths.max(), draw.randint(0, 2, (4, 1)).astype("int64")
        words, sentences = np.zeros((4, long, 1), "int64"), np.zeros((4, long, 1), "int64")
        mask, hidden, hidden_at = np.zeros((4, long, 1), "float32"), [], []
        for row, length in enumerate(lengths):
            words[row, :length, 0] = (draw.randint(4, WORDS) + np.arange(length)) % (WORDS - 4) + 4
            sentences[row, length // 2 : length] = follows[row]
            mask[row, :length] = 1
            for place in draw.choice(np.arange(1, length), 2, replace=False):
                hidden_at.append([row * long + place])
                hidden.append([words[row, place, 0]])
                words[row, place, 0] = MASK
        places = np.tile(np.arange(long).reshape(1, long, 1), (4, 1, 1)).astype("int64")
        yield [words, places, sentences, mask, np.array(hidden), np.array(hidden_at, "int64"), follows]


def costs(steps: int) -> list[float]:
    """Of each step."""
    text = [-1, LONGEST, 1]
    reader = layers.py_reader(
        capacity=4,
        shapes=[text, text, text, text, [-1, 1], [-1, 1], [-1, 1]],
        dtypes=["int64", "int64", "int64", "float32", "int64", "int64", "int64"],
        lod_levels=[0] * 7,
    )
    cost = network(layers.read_file(reader))
    _learn(cost)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    begin(fluid.default_main_program(), 0.2)
    reader.decorate_tensor_provider(lambda: batches(steps))
    reader.start()
    found = []
    try:
        while True:
            found.append(number(exe.run(fetch_list=[cost])[0]))
    except fluid.core.EOFException:
        reader.reset()
    return found
