"""Filtering: filters by what windows see of images, and both ways back, as products of matrices.

Loops that lay both sides out do this where they are for as many rows as there are filters (tiled.py), with
the weights as they are; else BLAS does. It must never know an image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from paddle._engine import tiled
from paddle._engine.program import Form

Step = Callable[[], object]


def room(filters: int, window: int, places: int, dtype: str) -> Mapping[str, Form]:
    """What these loops need besides, for up to so many places; nothing where they are not asked."""
    if not tiled.is_laid_out(filters, (window, places), dtype):
        return {}
    weights, seen = Form((filters, window), dtype), Form((window, places), dtype)
    there, back = tiled.room(weights, seen), tiled.room_back(weights, seen)
    return {name: max(there[name], back[name], key=lambda form: form.shape) for name in there}


class Filtering:
    """All of each group: ``weights`` (groups, filters, window), what is ``seen`` (groups, window, places),
    and the ``planes`` (groups, filters, places) that are made of it. ``room``: arrays for ``room``."""

    def __init__(
        self, weights: np.ndarray, seen: np.ndarray, planes: np.ndarray, room: Mapping[str, np.ndarray]
    ) -> None:
        self._weights, self._seen, self._planes, self._room = weights, seen, planes, room
        (_, filters, window), places = weights.shape, seen.shape[2]
        lie_well = all(each.flags.c_contiguous for each in (weights, seen, planes))
        fits = tiled.is_laid_out(filters, (window, places), weights.dtype.name)
        self.is_laid_out = lie_well and fits

    def planes(self) -> Step:
        """What makes the planes, whenever it is called."""
        if not self.is_laid_out:
            return partial(np.matmul, self._weights, self._seen, self._planes)
        groups = zip(self._weights, self._seen, self._planes, strict=True)
        return _all([tiled.multiply(*group, self._room) for group in groups])

    def seen(self) -> Step:
        """What makes the slope of what is seen, in its place, of the planes'."""
        if not self.is_laid_out:
            return partial(np.matmul, self._weights.swapaxes(1, 2), self._planes, self._seen)
        return self._back(target=self._seen)

    def weights(self, out: np.ndarray, *, is_turned: bool = False) -> Step:
        """What makes the slope of the weights of the planes': ``out``, (groups, filters, window), or with its
        last two axes the other way round, which is BLAS's."""
        if is_turned:
            return partial(np.matmul, self._seen, self._planes.swapaxes(1, 2), out)
        if not self.is_laid_out:
            return partial(np.matmul, self._planes, self._seen.swapaxes(1, 2), out)
        return self._back(below=out)

    def _back(self, **wanted: np.ndarray) -> Step:
        steps = []
        for group, (weights, seen, planes) in enumerate(
            zip(self._weights, self._seen, self._planes, strict=True)
        ):
            goals = {name: array[group] for name, array in wanted.items()}
            given = {"target": None, "below": None, **goals}
            steps.append(tiled.multiply_back(weights, planes, seen, room=self._room, **given))
        return _all([None if step is None else partial(step, 1.0) for step in steps])


def _all(steps: list[Step | None]) -> Step:
    first, *others = [step for step in steps if step is not None]
    if not others:
        return first

    def step() -> None:
        for each in (first, *others):
            each()

    return step
