"""The best way through a chain of tags: Viterbi's.

It must never know an operator's block. Guarantee: of ways that are worth the same it is the one of the first
tags; a sequence's tags beyond its length are 0.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.ops.formulas.formula import Attrs, Formula


def _decoded(
    told: Attrs, worth: np.ndarray, passing: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    rows, ends = np.arange(len(worth)), lengths.reshape(-1).astype(np.int64)
    longest = int(ends.max(initial=0))
    bounded = told["include_bos_eos_tag"]
    best = worth[:, 0] + (passing[-1] if bounded else 0)
    stop = passing[-2] if bounded else np.zeros_like(passing[0])
    best = best + (ends == 1)[:, None] * stop
    ways = []
    for at in range(1, longest):
        each = best[:, :, None] + passing
        ways.append(each.argmax(1))
        after = each.max(1) + worth[:, at] + (ends == at + 1)[:, None] * stop
        best = np.where((ends > at)[:, None], after, best)
    path = np.zeros((len(worth), longest), np.int64)
    tag = best.argmax(1)
    for at in range(longest - 1, -1, -1):
        inside = ends > at
        path[inside, at] = tag[inside]
        if at:
            tag = np.where(inside, ways[at - 1][rows, tag], tag)
    return best.max(1), path


Formula(
    "viterbi_decode",
    "Input Transition Length",
    "Scores Path",
    _decoded,
    shape=lambda told, x, passing, lengths: ((x[0],), (x[0], -1)),
    dtypes={"Path": VarType.INT64},
).register(include_bos_eos_tag=True)
