"""The row that measures what is detected: ``detection_map``, the mean over classes of average precision.

Guarantee: what batches have added up is three tensors, from which a later batch goes on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import say
from paddle._program.ops.boxes.keeping import shares
from paddle._program.ops.boxes.pixels import of_images
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets

Marks = dict[int, list[tuple[float, int]]]
"""Of each class, (score, 1 or 0) of all that were detected."""


@dataclass(slots=True)
class _Tally:
    """``counts``: how many boxes of each class there are; ``right`` and ``wrong``: what was detected."""

    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    right: Marks = field(default_factory=lambda: defaultdict(list))
    wrong: Marks = field(default_factory=lambda: defaultdict(list))

    def mark(self, label: int, score: float, is_right: bool) -> None:
        self.right[label].append((score, int(is_right)))
        self.wrong[label].append((score, int(not is_right)))


def _of_measure(op: Operator) -> None:
    say(op, "MAP", (1,), "float32")
    say(op, "AccumPosCount", (-1, 1), "int32")
    for slot in ("AccumTruePos", "AccumFalsePos"):
        say(op, slot, (-1, 2), "float32", 1)


@hosts(
    "detection_map",
    infer=_of_measure,
    overlap_threshold=0.3,
    evaluate_difficult=True,
    ap_type="integral",
    class_num=1,
    background_label=0,
)
def _detection_map(host: Host, op: Operator) -> None:
    """Detected are (label, score, box), right (label, box) or (label, whether it is difficult, box)."""
    labels, detected = of_images(host, op, "Label"), of_images(host, op, "DetectRes")
    if len(labels) != len(detected):
        raise BadProgram(
            f"operator 'detection_map': labels are of {len(labels)} images, what is detected is of "
            f"{len(detected)}"
        )
    tally = _resumed(host, op)
    for right, found in zip(labels, detected, strict=True):
        _count(op, tally, right, found)
    host.give(op, "MAP", np.array([_mean(op, tally)], np.float32))
    classes = range(int(op.attr("class_num")))
    counts = [[tally.counts.get(label, 0)] for label in classes]
    host.give(op, "AccumPosCount", np.array(counts, np.int32).reshape(-1, 1))
    for slot, marks in (("AccumTruePos", tally.right), ("AccumFalsePos", tally.wrong)):
        rows = [mark for label in classes for mark in marks.get(label, [])]
        ends = offsets(len(marks.get(label, [])) for label in classes)
        host.give(op, slot, LoDTensor(np.array(rows, np.float32).reshape(-1, 2), [ends]))


def _resumed(host: Host, op: Operator) -> _Tally:
    found = _Tally()
    if not (op.inputs.get("PosCount") and op.inputs.get("HasState")):
        return found
    if not np.asarray(host.input(op, "HasState")).reshape(-1)[0]:
        return found
    counts = np.asarray(host.input(op, "PosCount")).reshape(-1)
    found.counts.update({label: int(count) for label, count in enumerate(counts)})
    for slot, marks in (("TruePos", found.right), ("FalsePos", found.wrong)):
        for label, rows in enumerate(of_images(host, op, slot)):
            if len(rows):
                marks[label] = [(float(score), int(flag)) for score, flag in rows]
    return found


def _count(op: Operator, tally: _Tally, right: np.ndarray, found: np.ndarray) -> None:
    """Add what one image has, and what was detected there."""
    if right.shape[1] not in (5, 6):
        raise BadProgram(f"operator 'detection_map' takes labels of 5 or 6 numbers, not {right.shape[1]}")
    all_count = bool(op.attr("evaluate_difficult"))
    labels, boxes = right[:, 0].astype(int), right[:, -4:]
    is_hard = np.abs(right[:, 1]) >= 1e-6 if right.shape[1] == 6 else np.zeros(len(right), bool)
    for label in np.unique(labels).tolist():
        count = int((labels == label).sum() if all_count else ((labels == label) & ~is_hard).sum())
        if count:
            tally.counts[label] += count
    said = found[:, 0].astype(int)
    for label in np.unique(said).tolist():
        own, there = found[said == label], labels == label
        if not there.any():
            for score in own[:, 1].tolist():
                tally.mark(label, score, False)
            continue
        order = np.argsort(-own[:, 1], kind="stable")
        _match(op, tally, label, own[order, 1:], boxes[there], is_hard[there] & (not all_count))


def _match(
    op: Operator, tally: _Tally, label: int, found: np.ndarray, boxes: np.ndarray, is_let_be: np.ndarray
) -> None:
    """Each detected box with the one that it overlaps most, which the best alone has."""
    taken = np.zeros(len(boxes), bool)
    for row in found:
        near = shares(np.clip(row[1:], 0.0, 1.0), boxes, True)
        best = int(near.argmax())
        if near[best] <= op.attr("overlap_threshold"):
            tally.mark(label, float(row[0]), False)
        elif not is_let_be[best]:
            tally.mark(label, float(row[0]), not taken[best])
            taken[best] = True


def _mean(op: Operator, tally: _Tally) -> float:
    """A class that has as many boxes as the number of the background is left out: 1.8.5 asks so."""
    found = []
    for label, count in sorted(tally.counts.items()):
        if count == op.attr("background_label"):
            continue
        marks = tally.right.get(label)
        found.append(_average(op, marks, tally.wrong[label], count) if marks else 0.0)
    return sum(found) / len(found) if found else 0.0


def _average(
    op: Operator, right: list[tuple[float, int]], wrong: list[tuple[float, int]], count: int
) -> float:
    hits, misses = (_summed(marks) for marks in (right, wrong))
    precision, recall = hits / (hits + misses), hits / np.float32(count)
    if op.attr("ap_type") == "11point":
        best = [precision[recall.astype(np.float64) >= at / 10.0].max(initial=0.0) for at in range(11)]
        return float(sum(best) / 11)
    if op.attr("ap_type") != "integral":
        raise BadProgram(
            f"operator 'detection_map': ap_type is 'integral' or '11point', not {op.attr('ap_type')!r}"
        )
    return float((precision * np.abs(np.diff(recall, prepend=np.float32(0)))).sum())


def _summed(marks: list[tuple[float, int]]) -> np.ndarray:
    """How many there were, from the best score on."""
    flags = [flag for _, flag in sorted(marks, key=lambda mark: -mark[0])]
    return np.cumsum(flags).astype(np.float32)
