"""What it costs that moments say a label where each moment may say any number of tags: ``warprnnt``.

A way goes from the first moment to the last, and either says the next tag and stays in its moment, or says
nothing, ``blank``, and goes on. It must never know what a tag means. Guarantee: what lies beyond the lengths
that are told counts for nothing, and has no slope.
"""

from __future__ import annotations

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula

_NEVER = -np.inf


def _ahead(quiet: np.ndarray, says: np.ndarray) -> np.ndarray:
    """How probable all ways are that lead to a place: to a moment (rows) with so many tags said (columns)."""
    found = np.empty(quiet.shape)
    begins = np.full(quiet.shape[1], _NEVER)
    begins[0] = 0.0
    for moment, told in enumerate(says):
        said = np.concatenate([[0.0], np.cumsum(told)])
        found[moment] = said + np.logaddexp.accumulate(begins - said)
        begins = found[moment] + quiet[moment]
    return found


def _behind(quiet: np.ndarray, says: np.ndarray) -> np.ndarray:
    """How probable all ways are that lead on from a place to the end."""
    found = np.empty(quiet.shape)
    ends = np.full(quiet.shape[1], _NEVER)
    ends[-1] = 0.0
    for moment in reversed(range(len(quiet))):
        left = np.concatenate([np.cumsum(says[moment][::-1])[::-1], [0.0]])
        leaves = ends + quiet[moment] - left
        found[moment] = left + np.logaddexp.accumulate(leaves[::-1])[::-1]
        ends = found[moment]
    return found


def _cost(quiet: np.ndarray, says: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Of one sample: the cost, and how probable it is that a way is quiet, or says a tag, in a place."""
    ahead, behind = _ahead(quiet, says), _behind(quiet, says)
    total = behind[0, 0]
    onward = np.full(quiet.shape, _NEVER)
    onward[:-1] = behind[1:]
    onward[-1, -1] = 0.0
    shares = np.exp(ahead + quiet + onward - total)
    return -total, shares, np.exp(ahead[:, :-1] + says + behind[:, 1:] - total)


def _costs(
    told: Attrs, rows: np.ndarray, labels: np.ndarray, lengths: np.ndarray, label_lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The cost of each sample, and the slope of ``rows``, logarithms (n, moments, tags + 1, classes)."""
    costs, slopes = np.zeros(len(rows)), np.zeros(rows.shape, np.float32)
    for at, (length, count) in enumerate(zip(lengths.reshape(-1), label_lengths.reshape(-1), strict=True)):
        if not (0 < length <= rows.shape[1] and 0 <= count < rows.shape[2] and count <= labels.shape[1]):
            raise ValueError(
                f"sample {at} has {length} moments and {count} tags, and there is room for {rows.shape[1]} "
                f"and {min(rows.shape[2] - 1, labels.shape[1])}"
            )
        of_sample = rows[at, :length, : count + 1].astype(np.float64)
        tags = labels[at, :count].astype(np.int64)
        places = np.arange(count)
        quiet, says = of_sample[:, :, told["blank"]], of_sample[:, places, tags]
        costs[at], is_quiet, is_said = _cost(quiet, says)
        slope = slopes[at, :length, : count + 1]
        slope[:, :, told["blank"]] -= is_quiet
        slope[:, places, tags] -= (1.0 + told["fastemit_lambda"]) * is_said
    return costs, slopes


Formula(
    "warprnnt",
    "input label input_lengths label_lengths",
    "loss warprnntgrad",
    _costs,
    lambda told, arrays, outs, came: [came[:, None, None, None] * outs[1], None, None, None],
    lambda told, rows, *others: ((rows[0],), tuple(rows)),
).register(blank=0, fastemit_lambda=0.0)
