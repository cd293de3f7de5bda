"""Samples: columns and classes that are drawn, by chances that are given.

All that is drawn follows from the run's seed, its step and a name. Guarantee: where rows are the samples of a
part of a batch, they are drawn as in the whole batch.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Kernel, Row, Steps

_WORDS_AT_ONCE = 4  # for each value of the generator's counter
_ALL = 1e20
_APART = 0x9E3779B97F4A7C15  # seeds of parts; any large odd number does


class _Stream:
    """Random numbers of one operator, a row of them for each of its rows; see noise.py for the generator."""

    def __init__(self, call: Call, shape: tuple[int, int]) -> None:
        self._run, self._shape = call.run, shape
        self._salt = zlib.crc32(call.operator.outputs["Out"][0].encode())
        self._generator = np.random.Philox(key=0)
        self._start = self._generator.state

    def numbers(self) -> np.ndarray:
        """Those of this step, from 0 to below 1."""
        run, (rows, columns), state = self._run, self._shape, self._start["state"]
        is_of_samples = rows == run.samples > 0
        first = run.before * columns if is_of_samples else 0
        seed = run.seed if is_of_samples else run.seed + run.part * _APART
        state["key"][:] = seed % 2**64, (run.step % 2**32) << 32 | self._salt
        state["counter"][0], skipped = divmod(first, _WORDS_AT_ONCE)
        self._generator.state = self._start
        words = self._generator.random_raw(skipped + rows * columns)[skipped:]
        return ((words >> np.uint64(11)) * 2.0**-53).reshape(self._shape)


def _column_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    return {"Out": Form((x.shape[0], 1), "int64")}


def _sampling_id(call: Call) -> Steps:
    """A column of each row, drawn with the probabilities that stand in it."""
    x, out = call["X"], call["Out"].reshape(-1)
    stream = _Stream(call, (len(x), 1))

    def draw() -> None:
        ends = np.cumsum(x, axis=1, dtype=np.float64)
        reached = stream.numbers() * ends[:, -1:]
        np.minimum((ends <= reached).sum(1), x.shape[1] - 1, out=out)

    yield draw


def _classes_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.integers(forms, "Label")
    label, attrs = shapes.matrix(forms, "Label"), forms.attrs
    if attrs["distribution"] and len(attrs["distribution"]) != attrs["num_classes"]:
        raise ShapeError(f"{len(attrs['distribution'])} probabilities for {attrs['num_classes']} classes")
    return {"Out": Form((label.shape[0], label.shape[1] + attrs["num_neg_samples"]), "int64")}


def _sample_classes(call: Call) -> Steps:
    """Each row is its labels and, behind them, classes that are drawn anew in each run: any, or by
    distribution."""
    label, out, attrs = call["Label"], call["Out"], call.attrs
    many, last = label.shape[1], attrs["num_classes"] - 1
    stream = _Stream(call, (len(out), out.shape[1] - many))
    ends = np.cumsum(attrs["distribution"]) if attrs["distribution"] else None

    def draw() -> None:
        numbers = stream.numbers()
        ids = numbers * (last + 1) if ends is None else np.searchsorted(ends, numbers * ends[-1], "right")
        np.minimum(ids.astype(np.int64), last, out=out[:, many:])

    yield partial(np.copyto, out[:, :many], label)
    yield draw


def _apart_shape(forms: Forms) -> Mapping[str, Form]:
    label, attrs = shapes.column(forms, "Label", -1), forms.attrs
    if not 1 <= attrs["num_samples"] <= attrs["num_classes"]:
        raise ShapeError(f"{attrs['num_samples']} of {attrs['num_classes']} classes cannot be drawn apart")
    sizes = (label.shape[0], 1 + attrs["num_samples"])
    return {"Out": Form(sizes, "int64"), **dict.fromkeys(("Chances", "Less"), Form(sizes, "float32"))}


class _Apart:
    """Classes that are drawn anew in each run, each once, a small number more often than a large one."""

    def __init__(self, call: Call) -> None:
        self._run, self._attrs = call.run, call.attrs
        self._salt = zlib.crc32(call.operator.outputs["Out"][0].encode())
        classes = np.arange(call.attrs["num_classes"])
        self._once = np.log1p(1 / (classes + 1)) / np.log(len(classes) + 1)
        self._ends = np.cumsum(self._once)

    def draw(self) -> tuple[np.ndarray, np.ndarray]:
        """They, and how often each class of all is expected among them."""
        count, run = self._attrs["num_samples"], self._run
        key = np.array([run.seed % 2**64, (run.step % 2**32) << 32 | self._salt], np.uint64)
        numbers, tries = np.random.Generator(np.random.Philox(key=key)), 0
        found = np.empty(0, np.int64)
        while len(found) < count:
            drawn = np.searchsorted(self._ends, numbers.random(4 * count) * self._ends[-1], "right")
            every = np.concatenate([found, np.minimum(drawn, len(self._ends) - 1)])
            first = np.sort(np.unique(every, return_index=True)[1])[:count]
            tries += (int(first[-1]) + 1 if len(first) == count else len(every)) - len(found)
            found = every[first]
        chances = count * self._once if tries == count else -np.expm1(tries * np.log1p(-self._once))
        return found, chances


def _sample_apart(call: Call) -> Steps:
    """Each row is a label and, behind it, the classes that are drawn for all rows; with their chances, and
    what a score of theirs has too much: the logarithm of that, and where a drawn one is the label, all."""
    label, out, apart = call["Label"], call["Out"], _Apart(call)

    def draw() -> None:
        out[:, :1] = label
        out[:, 1:], chances = apart.draw()
        np.take(chances.astype(np.float32), out, 0, call["Chances"], "clip")
        np.log(call["Chances"], out=call["Less"])
        if call.attrs["without_label"]:
            call["Less"][:, 1:] += (out[:, 1:] == label) * np.float32(_ALL)

    yield draw


ROWS = (
    Row(
        type="sample_apart",
        inputs=("Label",),
        outputs=("Out", "Chances", "Less"),
        attrs={"num_classes": REQUIRED, "num_samples": REQUIRED, "without_label": True},
        shape=_apart_shape,
        forward=Kernel(_sample_apart),
    ),
    Row(type="sampling_id", shape=_column_shape, forward=Kernel(_sampling_id)),
    Row(
        type="sample_classes",
        inputs=("Label",),
        attrs={"num_classes": REQUIRED, "num_neg_samples": 10, "distribution": ()},
        shape=_classes_shape,
        forward=Kernel(_sample_classes),
    ),
)
