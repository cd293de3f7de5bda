"""Measures of what all workers have seen, from what each of them has counted.

Each argument is an array, or a variable that outlives a run, itself or its name, in ``scope``. Where workers
do not speak to each other (``fleet.util``) a worker's own counts are all there are. It must never know how
they speak.

Guarantee: every worker is given the same value; one that nobody has counted anything for is as upstream's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle._engine.auc import area_under_curve
from paddle._program.running.scope import Scope, global_scope

__all__ = ["acc", "auc", "mae", "max", "min", "mse", "rmse", "sum"]


def sum(input: Any, scope: Scope | None = None, util: Any = None) -> np.ndarray:
    """The sum over all workers, of this shape."""
    return _reduced(input, "sum", scope, util)


def max(input: Any, scope: Scope | None = None, util: Any = None) -> np.ndarray:
    """The largest of all workers, element by element."""
    return _reduced(input, "max", scope, util)


def min(input: Any, scope: Scope | None = None, util: Any = None) -> np.ndarray:
    """The smallest of all workers, element by element."""
    return _reduced(input, "min", scope, util)


def auc(stat_pos: Any, stat_neg: Any, scope: Scope | None = None, util: Any = None) -> float:
    """The area under the ROC curve. ``stat_pos``, ``stat_neg``: how many samples of either kind were
    predicted in each bucket, the lowest first; 0.5 where there are none of one kind."""
    positive, negative = (_buckets(_reduced(each, "sum", scope, util)) for each in (stat_pos, stat_neg))
    return area_under_curve(positive, negative, alone=0.5)


def mae(abserr: Any, total_ins_num: Any, scope: Scope | None = None, util: Any = None) -> float:
    """The mean absolute error: of sums of ``abserr`` over samples."""
    return _ratio(abserr, total_ins_num, scope, util)


def mse(sqrerr: Any, total_ins_num: Any, scope: Scope | None = None, util: Any = None) -> float:
    """The mean squared error: of sums of ``sqrerr`` over samples."""
    return _ratio(sqrerr, total_ins_num, scope, util)


def rmse(sqrerr: Any, total_ins_num: Any, scope: Scope | None = None, util: Any = None) -> float:
    """The root of the mean squared error."""
    return math.sqrt(_ratio(sqrerr, total_ins_num, scope, util))


def acc(correct: Any, total: Any, scope: Scope | None = None, util: Any = None) -> float:
    """The part of samples that was predicted well."""
    return _ratio(correct, total, scope, util)


def _ratio(part: Any, whole: Any, scope: Scope | None, util: Any) -> float:
    above = float(_reduced(part, "sum", scope, util).ravel()[0])
    below = float(_reduced(whole, "sum", scope, util).ravel()[0])
    if not below:
        raise ZeroDivisionError("no worker has counted a sample: ask for a measure after some were seen")
    return above / below


def _reduced(input: Any, mode: str, scope: Scope | None, util: Any) -> np.ndarray:
    value = _value(input, scope)
    if util is None:
        from paddle.distributed.fleet.base.fleet_base import fleet

        util = fleet.util
    return np.asarray(util.all_reduce(value, mode)).reshape(value.shape)


def _value(input: Any, scope: Scope | None) -> np.ndarray:
    name = input if isinstance(input, str) else getattr(input, "name", None)
    if name is None:
        return np.array(input)
    held = (scope or global_scope()).find_var(name)
    if held is None or not held.is_initialized():
        raise ValueError(
            f"a measure of {name}: the scope has no value of it; only what is persistable outlives a run"
        )
    return np.array(held.get_tensor())


def _buckets(counts: np.ndarray) -> np.ndarray:
    return np.asarray(counts if counts.ndim < 2 else counts[0], np.float64)
