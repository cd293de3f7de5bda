"""The ids, batches and gradient that all contenders share, and the work made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.worker import Work

BATCH = 26 * 512
WIDTH = 16
LEARNING_RATE = 0.25
_BATCHES = 128  # together more rows than a processor's cache holds


def all_ids(rows: int) -> np.ndarray:
    """The ids of a table, int64, each once, in the order in which they came; id number r has row r."""
    return np.random.default_rng(1).permutation(rows) * 1_000_003 - (1 << 40)


def batches(settings: Mapping[str, Any]) -> list[np.ndarray]:
    """Row numbers of batches, drawn with equal chances: the worst case for a cache.

    With ``repeats`` as they were drawn; otherwise as a trainer sends them, each id once and ascending.
    """
    generator, rows = np.random.default_rng(2), settings["rows"]
    if settings["repeats"]:
        return list(generator.integers(0, rows, (_BATCHES, BATCH)))
    ids, spare = all_ids(rows), BATCH // 8
    drawn = (
        generator.permutation(np.unique(generator.integers(0, rows, BATCH + spare)))[:BATCH]
        for _ in range(_BATCHES)
    )
    return [some[np.argsort(ids[some])] for some in drawn]


def gradient() -> np.ndarray:
    """What every batch pushes: small whole numbers, with which the arithmetic is exact in any order."""
    return (np.arange(BATCH * WIDTH, dtype=np.float32) % 7 - 3).reshape(BATCH, WIDTH)


def by_id(settings: Mapping[str, Any]) -> list[np.ndarray]:
    """The batches as ids."""
    ids = all_ids(settings["rows"])
    return [ids[batch] for batch in batches(settings)]


Keys = np.ndarray
Pull = Callable[[Keys], np.ndarray]
Push = Callable[[Keys], None]


def work(settings: Mapping[str, Any], batches: list[Keys], pull: Pull, push: Push) -> Work:
    """Pulling or pushing batches in turn; the answer is what a pull brings after four pushes."""
    for batch in batches[:4]:
        push(batch)
    weights = np.arange(BATCH * WIDTH).reshape(BATCH, WIDTH) % 11
    answer = float((pull(batches[1]).reshape(BATCH, WIDTH) * weights).sum(dtype=np.float64))
    do = {"pull": pull, "push": push}[settings["work"]]
    turn = 0

    def run(count: int) -> None:
        nonlocal turn
        for _ in range(count):
            do(batches[turn % len(batches)])
            turn += 1

    return Work(run, answer)
