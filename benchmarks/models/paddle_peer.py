"""The same models in PaddlePaddle 2.6 itself, as static programs, in its own Python (``--paddle=PYTHON``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import paddle
from benchmarks.models.data import (
    CONTEXT,
    DENSE,
    FEATURES,
    LAYERS,
    MLP,
    PIXELS,
    SLOTS,
    STATE,
    VECTOR,
    Batch,
    Values,
    batches,
    start,
)
from benchmarks.models.training import training
from benchmarks.worker import Work

F, static = paddle.nn.functional, paddle.static


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    paddle.enable_static()
    program, begin = static.Program(), static.Program()
    draft, place = _Draft(start(settings)), paddle.CPUPlace()
    with static.program_guard(program, begin):
        cost = paddle.mean(_MODELS[settings["model"]](draft))
        _optimizer(settings).minimize(cost)
    executor = static.Executor(place)
    executor.run(begin)
    for name, value in draft.values.items():
        static.global_scope().find_var(name).get_tensor().set(value, place)

    def step(feed: Mapping[str, np.ndarray]) -> float:
        return float(executor.run(program, feed=feed, fetch_list=[cost])[0])

    return training(step, [_feed(batch) for batch in batches(settings)], settings)


def _optimizer(settings: Mapping[str, Any]) -> Any:
    """Rates are per sample for the others, per batch here, whose cost is the mean."""
    return paddle.optimizer.SGD(settings["learning_rate"] * settings["batch"])


class _Draft:
    """Layers with given first ``values``, which parameters get once there is memory for them."""

    def __init__(self, values: Values) -> None:
        self.values = dict(values)

    def parameter(self, name: str) -> Any:
        return static.create_parameter(self.values[name].shape, "float32", attr=self.attr(name))

    def attr(self, name: str) -> Any:
        return paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Constant(0.0))

    def layer(self, number: int, x: Any) -> Any:
        w, b = self.attr(f"layer{number}_w"), self.attr(f"layer{number}_b")
        return static.nn.fc(x, self.values[f"layer{number}_b"].size, weight_attr=w, bias_attr=b)

    def rows(self, ids: Any) -> Any:
        shape = self.values["table"].shape
        return static.nn.embedding(ids, size=shape, is_sparse=True, param_attr=self.attr("table"))

    def cost(self, scores: Any) -> Any:
        return F.softmax_with_cross_entropy(scores, static.data("label", [None, 1], "int64"))


def _word2vec(draft: _Draft) -> Any:
    rows = draft.rows(static.data("context", [None, CONTEXT], "int64"))
    x = paddle.reshape(rows, [-1, CONTEXT * rows.shape[-1]])
    return draft.cost(draft.layer(1, F.sigmoid(draft.layer(0, x))))


def _regression(draft: _Draft) -> Any:
    predicted = draft.layer(0, static.data("features", [None, FEATURES]))
    return F.square_error_cost(predicted, static.data("price", [None, 1]))


def _ctr(draft: _Draft) -> Any:
    rows, dense = draft.rows(static.data("ids", [None, SLOTS], "int64")), static.data("dense", [None, DENSE])
    x = paddle.concat([paddle.reshape(rows, [-1, SLOTS * rows.shape[-1]]), dense], 1)
    for number in range(len(LAYERS)):
        x = F.relu(draft.layer(number, x))
    return draft.cost(draft.layer(3, x) + paddle.matmul(dense, draft.parameter("wide_w")))


def _mlp(draft: _Draft) -> Any:
    x = static.data("image", [None, PIXELS])
    for number in range(len(MLP)):
        x = F.relu(draft.layer(number, x))
    return draft.cost(draft.layer(len(MLP), x))


def _lenet(draft: _Draft) -> Any:
    x = paddle.reshape(static.data("image", [None, PIXELS]), [-1, 1, 28, 28])
    for number in range(2):
        w, b = draft.parameter(f"filter{number}_w"), draft.parameter(f"filter{number}_b")
        x = F.max_pool2d(F.relu(F.conv2d(x, w, b)), 2)
    return draft.cost(draft.layer(0, paddle.flatten(x, 1)))


def _lstm(draft: _Draft) -> Any:
    """Its own module keeps the gates in another order: input, forget, candidate, output, a row for each. It
    has its quick path only where it has biases that are trained, here at a rate of zero."""
    values, weights = draft.values, [draft.attr(name) for name in ("outside_w", "before_w")]
    order = [STATE * gate + i for gate in (1, 2, 0, 3) for i in range(STATE)]
    for name in ("outside_w", "before_w"):
        values[name] = np.ascontiguousarray(values[name].T[order])
    nothing = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.0), learning_rate=0.0)
    lstm = paddle.nn.LSTM(VECTOR, STATE, 1, "forward", False, 0.0, *weights, nothing, nothing)
    words, lengths = static.data("words", [None, None], "int64"), static.data("lengths", [None], "int64")
    _, (last, _) = lstm(draft.rows(words), sequence_length=lengths)
    return draft.cost(draft.layer(0, paddle.reshape(last, [-1, STATE])))


def _feed(batch: Batch) -> Mapping[str, np.ndarray]:
    """A batch. Sequences become rows of one length, with zeros behind."""
    fed = {name: array[:, None] if name == "label" else array for name, array in batch.items()}
    if "offsets" in fed:
        parts = np.split(fed.pop("words"), fed.pop("offsets")[1:-1])
        fed["lengths"] = np.array([len(part) for part in parts])
        longest = max(map(len, parts))
        fed["words"] = np.stack([np.pad(part, (0, longest - len(part))) for part in parts])
    return fed


_MODELS: Mapping[str, Callable[[_Draft], Any]] = {
    "word2vec": _word2vec,
    "regression": _regression,
    "ctr": _ctr,
    "mlp": _mlp,
    "lenet": _lenet,
    "lstm": _lstm,
}
