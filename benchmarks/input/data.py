"""Seeded rows that all contenders make arrays of, and what is asked of them: the sum of all numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.worker import Work

WORDS, IDS, COLUMNS = 10_000, 1_000_000, 100_000
_BATCHES = 8


def batches(kind: str, rows: int) -> list[list[tuple[Any, ...]]]:
    """Batches of ``rows`` samples."""
    generator = np.random.default_rng(62)
    return [_KINDS[kind](generator, rows) for _ in range(_BATCHES)]


def feeding(feed: Callable[[Sequence[Any]], Iterable[np.ndarray]], given: Sequence[Any]) -> Work:
    """``feed`` makes arrays of one batch after another; the answer is the sum of those of the first."""
    answer = sum(float(np.sum(array, dtype=np.float64)) for array in feed(given[0]))

    def run(count: int) -> None:
        for number in range(count):
            feed(given[number % len(given)])

    return Work(run, answer)


def _words(generator: np.random.Generator, rows: int) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in generator.integers(0, WORDS, (rows, 5)).tolist()]


def _images(generator: np.random.Generator, rows: int) -> tuple[np.ndarray, list[int]]:
    return generator.random((rows, 784), np.float32), generator.integers(0, 10, rows).tolist()


def _arrays(generator: np.random.Generator, rows: int) -> list[tuple[Any, ...]]:
    images, labels = _images(generator, rows)
    return list(zip(list(images), labels, strict=True))


def _lists(generator: np.random.Generator, rows: int) -> list[tuple[Any, ...]]:
    images, labels = _images(generator, rows)
    return list(zip(images.tolist(), labels, strict=True))


def _clicks(generator: np.random.Generator, rows: int, below: int) -> Iterable[tuple[Any, ...]]:
    numbers = generator.random((rows, 13)).tolist()
    named = generator.integers(0, below, (rows, 26)).tolist()
    return zip(numbers, named, generator.integers(0, 2, rows).tolist(), strict=True)


def _ids(generator: np.random.Generator, rows: int) -> list[tuple[Any, ...]]:
    return [(numbers, *named, label) for numbers, named, label in _clicks(generator, rows, IDS)]


def _columns(generator: np.random.Generator, rows: int) -> list[tuple[Any, ...]]:
    return list(_clicks(generator, rows, COLUMNS))


_KINDS: dict[str, Callable[[np.random.Generator, int], list[tuple[Any, ...]]]] = {
    "words": _words,
    "arrays": _arrays,
    "lists": _lists,
    "ids": _ids,
    "columns": _columns,
}
