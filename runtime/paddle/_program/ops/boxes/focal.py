"""The row of a cost over classes that counts what is hard: ``sigmoid_focal_loss``."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.running.host import Host
from paddle._program.running.tape import Done, Slopes

_LEAST = np.finfo(np.float32).tiny


def _like_scores(op: Operator) -> None:
    x = described(op, "X")
    say(op, "Out", x.shape, x.dtype)


def _parts(op: Operator, x: np.ndarray, label: np.ndarray, count: np.ndarray) -> tuple[Any, ...]:
    """How likely each class is, and what counts for it and against it; label 0 is none, -1 is let be."""
    own = label.reshape(-1, 1) == np.arange(1, x.shape[1] + 1)
    others = (label.reshape(-1, 1) != -1) & ~own
    share = 1.0 / max(float(count.reshape(-1)[0]), 1.0)
    alpha = float(op.attr("alpha"))
    return 1.0 / (1.0 + np.exp(-x)), own * alpha * share, others * (1.0 - alpha) * share


@hosts("sigmoid_focal_loss", infer=_like_scores, gamma=2.0, alpha=0.25)
def _sigmoid_focal_loss(host: Host, op: Operator) -> None:
    x, gamma = array_of(host, op, "X"), float(op.attr("gamma"))
    p, own, others = _parts(op, x, array_of(host, op, "Label"), array_of(host, op, "FgNum"))
    hit = (1.0 - p) ** gamma * np.log(np.maximum(p, _LEAST))
    miss = p**gamma * -(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))
    host.give(op, "Out", (-own * hit - others * miss).astype(x.dtype))


@backs("sigmoid_focal_loss")
def _sigmoid_focal_loss_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    x, gamma = np.asarray(done.input("X")), float(done.op.attr("gamma"))
    label, count = (np.asarray(done.input(slot)) for slot in ("Label", "FgNum"))
    p, own, others = _parts(done.op, x, label, count)
    hit = (1.0 - p) ** gamma * (1.0 - p - p * gamma * np.log(np.maximum(p, _LEAST)))
    against = -(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))
    miss = p**gamma * (against * (1.0 - p) * gamma - p)
    done.add(slopes, "X", ((-own * hit - others * miss) * came).astype(x.dtype))
