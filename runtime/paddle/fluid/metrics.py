"""Fluid's measures: numbers of batches that a program adds up itself, over an epoch or a test.

They must never know a program: what ``update`` is given are values that a run fetched, or plain numbers.
Guarantee: ``eval`` is the measure of all that was given since ``reset``, an array where arrays were given (a
run fetches those of one element, and programs take ``[0]`` of the measure); nothing given is kept or changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from warnings import warn

import numpy as np

from paddle._engine.auc import area_under_curve

__all__ = [
    "Accuracy",
    "Auc",
    "ChunkEvaluator",
    "CompositeMetric",
    "DetectionMAP",
    "EditDistance",
    "MetricBase",
    "Precision",
    "Recall",
]


class MetricBase:
    """What all measures have. A subclass keeps its sums in public attributes, which ``reset`` clears."""

    def __init__(self, name: str | None = None) -> None:
        self._name = str(name) if name is not None else type(self).__name__

    def __str__(self) -> str:
        return self._name

    def reset(self) -> None:
        """Begin again: numbers and arrays become zero, whatever else becomes None."""
        for name, value in list(self._sums()):
            if isinstance(value, int | float):
                setattr(self, name, type(value)(0))
            else:
                setattr(
                    self, name, np.zeros_like(value) if isinstance(value, np.ndarray | np.generic) else None
                )

    def get_config(self) -> dict[str, Any]:
        """Its name and what it has added up."""
        return {"name": self._name, "states": dict(self._sums())}

    def update(self, preds: Any, labels: Any) -> None:
        """Take a batch."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it takes a batch: define update()")

    def eval(self) -> Any:
        """The measure of all batches so far."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it measures: define eval()")

    def _sums(self) -> Iterator[tuple[str, Any]]:
        return ((name, value) for name, value in vars(self).items() if not name.startswith("_"))


class CompositeMetric(MetricBase):
    """Several measures of the same predictions and labels."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self._metrics: list[MetricBase] = []

    def add_metric(self, metric: MetricBase) -> None:
        """Add one."""
        if not isinstance(metric, MetricBase):
            raise ValueError(f"add_metric takes a MetricBase, not a {type(metric).__name__}")
        self._metrics.append(metric)

    def reset(self) -> None:
        """Begin again with each."""
        for metric in self._metrics:
            metric.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Give a batch to each."""
        for metric in self._metrics:
            metric.update(preds, labels)

    def eval(self) -> list[Any]:
        """The measure of each, in the order in which they were added."""
        return [metric.eval() for metric in self._metrics]


class Precision(MetricBase):
    """Of those that were said to be positive (more than 0.5), the share that is. Labels are 0 and 1."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp = 0
        self.fp = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Take probabilities and labels, an array each."""
        said, right = _said_and_right(preds, labels)
        self.tp += int(np.sum((said == 1) & (right == 1)))
        self.fp += int(np.sum((said == 1) & (right != 1)))

    def eval(self) -> float:
        """The precision, 0.0 where none was said to be positive."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(MetricBase):
    """Of those that are positive, the share that was said to be (more than 0.5). Labels are 0 and 1."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp = 0
        self.fn = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Take probabilities and labels, an array each."""
        said, right = _said_and_right(preds, labels)
        self.tp += int(np.sum((right == 1) & (said == 1)))
        self.fn += int(np.sum((right == 1) & (said != 1)))

    def eval(self) -> float:
        """The recall, 0.0 where none is positive."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Accuracy(MetricBase):
    """The mean of what ``fluid.layers.accuracy`` gave for each batch, weighted by the batches' sizes."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.value = 0.0
        self.weight = 0.0

    def update(self, value: Any, weight: Any) -> None:
        """Take the accuracy of a batch and how many samples it had."""
        amount = _one("weight", weight)
        if amount < 0:
            raise ValueError(f"the weight of a batch is its number of samples, and not {weight}")
        self.value = self.value + _numbers("value", value) * amount
        self.weight = self.weight + amount

    def eval(self) -> Any:
        """The accuracy of all."""
        if self.weight == 0:
            raise ValueError(f"{self} has taken no batch: call update() with what layers.accuracy gave first")
        return self.value / self.weight


class ChunkEvaluator(MetricBase):
    """Precision, recall and F1 of chunks, from what ``fluid.layers.chunk_eval`` counted in each batch."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.num_infer_chunks = 0
        self.num_label_chunks = 0
        self.num_correct_chunks = 0

    def update(self, num_infer_chunks: Any, num_label_chunks: Any, num_correct_chunks: Any) -> None:
        """Take the counts of a batch."""
        self.num_infer_chunks = self.num_infer_chunks + _numbers("num_infer_chunks", num_infer_chunks)
        self.num_label_chunks = self.num_label_chunks + _numbers("num_label_chunks", num_label_chunks)
        self.num_correct_chunks = self.num_correct_chunks + _numbers("num_correct_chunks", num_correct_chunks)

    def eval(self) -> tuple[Any, Any, Any]:
        """Precision, recall and F1."""
        right = self.num_correct_chunks
        precision = right / self.num_infer_chunks if self.num_infer_chunks else 0.0
        recall = right / self.num_label_chunks if self.num_label_chunks else 0.0
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        return precision, recall, f1


class EditDistance(MetricBase):
    """The mean distance of sequences, and the share of those that are not equal, from
    ``fluid.layers.edit_distance``."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.total_distance = 0.0
        self.seq_num = 0
        self.instance_error = 0

    def update(self, distances: Any, seq_num: Any) -> None:
        """Take the distances of a batch's sequences, and how many these are."""
        found, number = np.asarray(distances), _one("seq_num", seq_num)
        self.total_distance += float(np.sum(found))
        self.seq_num = self.seq_num + number
        self.instance_error = self.instance_error + (number - int(np.sum(found == 0)))

    def eval(self) -> tuple[Any, Any]:
        """The mean distance, and the share of sequences with a distance."""
        if self.seq_num == 0:
            raise ValueError(
                f"{self} has taken no sequence: call update() with what layers.edit_distance gave"
            )
        return self.total_distance / self.seq_num, self.instance_error / self.seq_num


class DetectionMAP(MetricBase):
    """How well objects are found: over variables, which a run fetches (``get_map_var``), as in 1.8; or, as in
    0.14, the mean of what runs have fetched, weighted (``update``), where none are given."""

    def __init__(self, input: Any = None, *detection: Any, name: str | None = None, **options: Any) -> None:
        super().__init__(input if isinstance(input, str) else name)
        self.value = 0.0
        self.weight = 0.0
        self._measured: Any = None
        if detection or options:
            from paddle.fluid._mean_precision import MeanPrecision

            self._measured = MeanPrecision(input, *detection, **options)
            self.has_state, self.cur_map = self._measured.has_state, self._measured.cur_map
            self.accum_map = self._measured.accum_map
        elif input is not None and not isinstance(input, str):
            raise TypeError(
                "fluid.metrics.DetectionMAP takes what is detected, gt_label and gt_box, or a name"
            )

    def get_map_var(self) -> tuple[Any, Any]:
        """The variables of a batch's mean average precision, and of that of all since ``reset``."""
        if self._measured is None:
            raise ValueError(f"{self} was given no variables: DetectionMAP(input, gt_label, gt_box, ...)")
        found: tuple[Any, Any] = self._measured.get_map_var()
        return found

    def reset(self, executor: Any = None, reset_program: Any = None) -> None:
        """Begin again; what is measured over variables takes the executor."""
        if self._measured is None:
            super().reset()
        else:
            self._measured.reset(executor, reset_program)

    def update(self, value: Any, weight: Any) -> None:
        """Take the value of a batch and its weight."""
        amount = _one("weight", weight)
        self.value = self.value + _numbers("value", value) * amount
        self.weight = self.weight + amount

    def eval(self) -> Any:
        """The mean of all."""
        if self.weight == 0:
            raise ValueError(f"{self} has taken no batch: call update() first")
        return self.value / self.weight


class Auc(MetricBase):
    """The area under the curve that hits draw over false alarms, counted in ``num_thresholds`` + 1 bins."""

    def __init__(self, name: str | None = None, curve: str = "ROC", num_thresholds: int = 4095) -> None:
        super().__init__(name)
        if curve != "ROC":
            warn(
                f"fluid.metrics.Auc measures the curve 'ROC', and not {curve!r}, as upstream's", stacklevel=2
            )
        self._num_thresholds = num_thresholds
        self._positive = np.zeros(num_thresholds + 1, np.int64)
        self._negative = np.zeros(num_thresholds + 1, np.int64)

    def reset(self) -> None:
        """Begin again."""
        self._positive[:] = 0
        self._negative[:] = 0

    def get_config(self) -> dict[str, Any]:
        """Its name and its bins."""
        return {
            "name": self._name,
            "states": {"stat_pos": self._positive.copy(), "stat_neg": self._negative.copy()},
        }

    def update(self, preds: Any, labels: Any = None, axis: int = 1, predictions: Any = None) -> None:
        """Take probabilities (n, 2), those of 1 in the second column, and labels (n,) or (n, 1).

        0.14 had them in the other order, ``update(labels, predictions)``; which is which is seen.
        """
        first, second = np.asarray(preds), np.asarray(labels if predictions is None else predictions)
        if first.dtype.kind in "iub" and second.dtype.kind == "f":
            first, second = second, first
        if first.ndim != 2 or first.shape[1] < 2:
            raise ValueError(f"{self}: preds are probabilities of shape (n, 2), and not {first.shape}")
        right = second.reshape(-1).astype(bool)
        if len(right) != len(first):
            raise ValueError(f"{self}: there are {len(first)} preds and {len(right)} labels")
        bins = np.clip(first[:, 1] * self._num_thresholds, 0, self._num_thresholds).astype(np.int64)
        self._positive += np.bincount(bins[right], minlength=self._num_thresholds + 1)
        self._negative += np.bincount(bins[~right], minlength=self._num_thresholds + 1)

    def eval(self) -> float:
        """The area, 0.0 while there are only labels of one kind."""
        return area_under_curve(self._positive, self._negative)


def _said_and_right(preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    said, right = np.asarray(preds), np.asarray(labels)
    if said.size != right.size:
        raise ValueError(f"there are {said.size} preds and {right.size} labels, one of each to a sample")
    return np.rint(said.reshape(-1)).astype(np.int64), right.reshape(-1).astype(np.int64)


def _one(name: str, value: Any) -> Any:
    """A number, or an array that holds one."""
    found = _numbers(name, value)
    if np.size(found) != 1:
        raise ValueError(f"{name} is a number, or an array of one, and not {value!r}")
    return found


def _numbers(name: str, value: Any) -> Any:
    """What was given: a number, or an array of any size."""
    array = np.asarray(value)
    if array.dtype.kind not in "iufb":
        raise ValueError(f"{name} is a number, or an array, and not {value!r}")
    return value if isinstance(value, int | float) else array
