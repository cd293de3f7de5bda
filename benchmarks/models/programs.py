"""The models as a face writes them: operators, one after another. Each gives the variable of its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.models.data import CONTEXT, DENSE, FEATURES, PIXELS, SLOTS, Batch, Values
from paddle._engine.builder import Builder
from paddle._engine.initial import Numpy
from paddle._engine.program import Parameter, Variable


class Draft:
    """A builder, and the first values of the parameters that it is asked for."""

    def __init__(self, start: Values) -> None:
        self.builder, self._start = Builder(), start
        self.op = self.builder.op

    def parameter(self, name: str, **options: Any) -> Parameter:
        """The parameter of that name."""
        value = self._start[name]
        return self.builder.parameter(name, value.shape, Numpy(value), **options)

    def layer(self, number: int, x: Variable, act: str = "") -> Variable:
        """A layer of weights, bias and activation."""
        weighted = self.op("mul", X=x, Y=self.parameter(f"layer{number}_w"))
        out = self.op("elementwise_add", X=weighted, Y=self.parameter(f"layer{number}_b"))
        return self.op(act, X=out) if act else out

    def rows(self, table: Variable, ids: Variable) -> Variable:
        """Rows of a table."""
        return self.op("lookup_table", {"is_sparse": True}, W=table, Ids=ids)

    def cost(self, scores: Variable) -> Variable:
        """Of a class, whose number is fed."""
        label = self.builder.data("label", (-1, 1), "int64")
        return self.op("cross_entropy", X=self.op("softmax", X=scores), Label=label)


def word2vec(draft: Draft) -> Variable:
    table = draft.parameter("table", sparse=True, l2_rate=0.0)
    words = [draft.builder.data(f"word{i}", (-1, 1), "int64") for i in range(CONTEXT)]
    rows = draft.op("concat", X=[draft.rows(table, word) for word in words])
    return draft.cost(draft.layer(1, draft.layer(0, rows, "sigmoid")))


def regression(draft: Draft) -> Variable:
    predicted = draft.layer(0, draft.builder.data("features", (-1, FEATURES)))
    return draft.op("square_error_cost", X=predicted, Label=draft.builder.data("price", (-1, 1)))


def ctr(draft: Draft) -> Variable:
    table = draft.parameter("table", sparse=True)
    slots = [draft.builder.data(f"slot{i}", (-1, 1), "int64") for i in range(SLOTS)]
    dense = draft.builder.data("dense", (-1, DENSE))
    x = draft.op("concat", X=[*(draft.rows(table, slot) for slot in slots), dense])
    for number in range(3):
        x = draft.layer(number, x, "relu")
    wide = draft.op("mul", X=dense, Y=draft.parameter("wide_w"))
    return draft.cost(draft.op("elementwise_add", X=draft.layer(3, x), Y=wide))


def mlp(draft: Draft) -> Variable:
    x = draft.builder.data("image", (-1, PIXELS))
    for number, act in enumerate(("relu", "relu", "")):
        x = draft.layer(number, x, act)
    return draft.cost(x)


def lenet(draft: Draft) -> Variable:
    op, x = draft.op, draft.builder.data("image", (-1, PIXELS))
    x = op("reshape", {"shape": (-1, 1, 28, 28)}, X=x)
    for number in range(2):
        seen = op("conv2d", X=x, Filter=draft.parameter(f"filter{number}_w"))
        bias = draft.parameter(f"filter{number}_b")
        width = bias.shape[0]
        biased = op("elementwise_add", X=seen, Y=op("reshape", {"shape": (width, 1, 1)}, X=bias))
        x = op("max_pool2d", _HALVED, X=op("relu", X=biased))
    return draft.cost(draft.layer(0, op("reshape", {"shape": (-1, x.shape[1] * 16)}, X=x)))


_HALVED = {"ksize": (2, 2), "strides": (2, 2)}


def lstm(draft: Draft) -> Variable:
    op, builder = draft.op, draft.builder
    words, offsets = builder.data("words", (-1, 1), "int64"), builder.data("offsets", (-1,), "int64")
    rows = draft.rows(draft.parameter("table", sparse=True), words)
    weight = draft.parameter("before_w")
    nothing = op("fill_constant", {"shape": (1, 7 * weight.shape[0]), "value": 0.0})
    outside = op("mul", X=rows, Y=draft.parameter("outside_w"))
    states = op("lstm", X=outside, Weight=weight, Bias=nothing, Offsets=offsets)
    return draft.cost(draft.layer(0, op("sequence_end", X=states, Offsets=offsets)))


MODELS: Mapping[str, Callable[[Draft], Variable]] = {
    "word2vec": word2vec,
    "regression": regression,
    "ctr": ctr,
    "mlp": mlp,
    "lenet": lenet,
    "lstm": lstm,
}


def feed(batch: Batch) -> Mapping[str, np.ndarray]:
    """A batch as the programs take it: integers in columns, of context and ids each in one of its own."""
    columns: dict[str, np.ndarray] = {}
    for name, array in batch.items():
        if name in _CUT:
            columns |= {f"{_CUT[name]}{i}": array[:, i : i + 1].copy() for i in range(array.shape[1])}
        elif name in ("label", "words"):
            columns[name] = array[:, None]
        else:
            columns[name] = array
    return columns


_CUT = {"context": "word", "ids": "slot"}
