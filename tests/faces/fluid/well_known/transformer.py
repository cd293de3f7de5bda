"""A translator of the 1.x kind: every text is declared as long as the longest, and fed as long as its batch.

Words are embedded in one table that also scores them, labels are smoothed, the rate is noam's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
WORDS, LONGEST, WIDTH, HEADS, PAD = 17, 16, 8, 2, 0
FAR = -1e9


def _attention(queries: Any, keys: Any, bias: Any) -> Any:
    def heads(x: Any) -> Any:
        each = layers.fc(x, WIDTH, num_flatten_dims=2, bias_attr=False)
        return layers.transpose(layers.reshape(each, [0, 0, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])

    q, k, v = heads(queries), heads(keys), heads(keys)
    weights = layers.softmax(layers.matmul(q, k, transpose_y=True, alpha=(WIDTH // HEADS) ** -0.5) + bias)
    mixed = layers.transpose(layers.matmul(weights, v), [0, 2, 1, 3])
    return layers.fc(layers.reshape(mixed, [0, 0, WIDTH]), WIDTH, num_flatten_dims=2, bias_attr=False)


def _normal(x: Any) -> Any:
    return layers.layer_norm(x, begin_norm_axis=len(x.shape) - 1)


def _layer(x: Any, bias: Any, source: Any = None, source_bias: Any = None) -> Any:
    x = x + _attention(_normal(x), _normal(x), bias)
    if source is not None:
        x = x + _attention(_normal(x), source, source_bias)
    wide = layers.fc(_normal(x), 2 * WIDTH, num_flatten_dims=2, act="relu")
    return x + layers.fc(wide, WIDTH, num_flatten_dims=2)


def _embedded(words: Any, places: Any) -> Any:
    own = layers.embedding(words, [WORDS, WIDTH], padding_idx=PAD, param_attr=fluid.ParamAttr(name="words"))
    where = layers.embedding(places, [LONGEST, WIDTH], param_attr=fluid.ParamAttr("places", trainable=False))
    where.stop_gradient = True
    return layers.scale(own, WIDTH**0.5) + where


def _data(name: str, shape: list[int], dtype: str) -> Any:
    return layers.data(name, shape=shape, dtype=dtype, append_batch_size=False)


def network() -> Any:
    """The cost of a word."""
    text, square = [-1, LONGEST, 1], [-1, HEADS, LONGEST, LONGEST]
    source, source_at = _data("source", text, "int64"), _data("source_at", text, "int64")
    target, target_at = _data("target", text, "int64"), _data("target_at", text, "int64")
    hidden, ahead, across = (_data(name, square, "float32") for name in ("hidden", "ahead", "across"))
    label, counts = _data("label", [-1, 1], "int64"), _data("counts", [-1, 1], "float32")
    seen = _normal(_layer(_embedded(source, source_at), hidden))
    said = _normal(_layer(_embedded(target, target_at), ahead, seen, across))
    flat = layers.reshape(said, shape=[-1, said.shape[-1]])
    table = fluid.default_main_program().global_block().var("words")
    scores = layers.matmul(flat, table, transpose_y=True)
    smooth = layers.label_smooth(label=layers.one_hot(label, depth=WORDS), epsilon=0.1)
    cost = layers.softmax_with_cross_entropy(logits=scores, label=smooth, soft_label=True) * counts
    return layers.reduce_sum(cost) / layers.reduce_sum(counts)


def _padded(texts: list[list[int]]) -> Any:
    longest = max(map(len, texts))
    words = np.array([text + [PAD] * (longest - len(text)) for text in texts], "int64")
    places = np.tile(np.arange(longest), (len(texts), 1)) * (words != PAD)
    return words[:, :, None], places[:, :, None].astype("int64")


def batch(draw: Any) -> dict[str, np.ndarray]:
    """Texts, each to be said backwards."""
    texts = [draw.randint(3, WORDS, draw.randint(2, 7)).tolist() for _ in range(4)]
    source, source_at = _padded(texts)
    target, target_at = _padded([[1, *text[::-1]] for text in texts])
    label, _ = _padded([[*text[::-1], 2] for text in texts])
    many, long, wide = len(texts), source.shape[1], target.shape[1]
    padding = np.where(source[:, None, None, :, 0] == PAD, FAR, 0.0)
    future = np.triu(np.full((wide, wide), FAR), 1)
    return {
        "source": source,
        "source_at": source_at,
        "target": target,
        "target_at": target_at,
        "hidden": np.broadcast_to(padding, (many, HEADS, long, long)).astype("float32"),
        "ahead": np.broadcast_to(future, (many, HEADS, wide, wide)).astype("float32"),
        "across": np.broadcast_to(padding, (many, HEADS, wide, long)).astype("float32"),
        "label": label.reshape(-1, 1),
        "counts": (label != PAD).reshape(-1, 1).astype("float32"),
    }


def costs(steps: int) -> list[float]:
    """Of each step."""
    cost = network()
    rate = layers.noam_decay(WIDTH, 8000) * 20.0
    fluid.optimizer.Adam(rate, beta1=0.9, beta2=0.997, epsilon=1e-9).minimize(cost)
    exe, draw = fluid.Executor(fluid.CPUPlace()), np.random.RandomState(0)
    exe.run(fluid.default_startup_program())
    begin(fluid.default_main_program(), 0.3)
    return [number(exe.run(feed=batch(draw), fetch_list=[cost])[0]) for _ in range(steps)]
