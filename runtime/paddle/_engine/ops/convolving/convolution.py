"""Convolution: filters over images as products of matrices, some hundred places at a time.

What windows see in these places is unfolded into one small array, which is multiplied while the cache has
it: unfolded images are never in memory as a whole. Small images are seen side by side, so that a product has
places enough to be worth the way of its weights. It must never know operators. Guarantee: portions follow
from shapes alone and are added up in their order, so equal inputs give equal bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from paddle._engine.ops.convolving import filtering
from paddle._engine.ops.convolving.filtering import Filtering, Step
from paddle._engine.program import Form, Shape

Frame = tuple[int, int, int, int, int, int, int, int, int, int]
"""See kernels/images.py."""

PLACES = 256
"""At least so many are multiplied at once, where there are: fewer leave a product of matrices idle."""

NUMBERS = 2**16
"""So many may be unfolded at once in any case: a quarter of the second cache that most processors have."""

LARGE = 2**20
"""So many weights are more than the second cache holds."""

STRIP = 32
"""Rows that are transposed together."""


def scratch(
    images: Form, filters: Form, planes: Form, groups: int, *, weighs: bool = False
) -> Mapping[str, Form]:
    """What ``Convolution`` needs besides. ``weighs``: makes the gradient of filters."""
    count, lines = _at_once(images.shape, filters.shape, planes.shape)
    places, window = count * lines * planes.shape[3], prod(filters.shape[1:])
    forms = {"seen": Form((groups * window * places,), images.dtype)}
    room = filtering.room(filters.shape[0] // groups, window, places, images.dtype)
    if count > 1 or (room and lines < planes.shape[2]):
        forms["beside"] = Form((planes.shape[1] * places,), images.dtype)
    return {**forms, **room, **({"weights": filters} if weighs else {})}


def _at_once(images: Shape, filters: Shape, planes: Shape) -> tuple[int, int]:
    """How many images are seen side by side, and how many lines of places of each."""
    samples, (rows, columns) = images[0], planes[2:]
    if rows * columns < PLACES:
        parts = max(samples * rows * columns // PLACES, 1)
        return max(-(-samples // parts), 1), rows
    wanted = max(PLACES, NUMBERS // (images[1] * filters[2] * filters[3]))
    parts = -(-rows // max(wanted // columns, 1))
    return 1, -(-rows // parts)


@dataclass(frozen=True, slots=True)
class _Portion:
    """Places: in some lines of one image, the first of them ``line``, or all those of several ``images``.

    ``unfolded`` is what windows see there, (channels * window, images, places), None where that is the images
    themselves; ``seen`` are the same numbers as factors of products, (groups, window, images * places).
    ``planes`` (groups, filters, images * places) is what filters make of them: where it is wanted, or
    ``beside`` it, in the order of ``wanted``. ``products``: of these.
    """

    images: np.ndarray
    line: int
    unfolded: np.ndarray | None
    seen: np.ndarray
    planes: np.ndarray
    beside: np.ndarray | None
    wanted: np.ndarray
    products: Filtering


class Convolution:
    """``images`` (samples, channels, height, width), and the ``planes`` (samples, filters, rows, columns)
    that ``filters`` (filters, channels of a group, height, width) make of them: each is made of the others.
    """

    def __init__(
        self,
        images: np.ndarray,
        filters: np.ndarray,
        planes: np.ndarray,
        groups: int,
        frame: Frame,
        scratch: Mapping[str, np.ndarray],
    ) -> None:
        self._images, self._planes, self._frame, self._scratch = images, planes, frame, scratch
        self._weights = filters.reshape(groups, len(filters) // groups, -1)
        self._at_once, self._lines = _at_once(images.shape, filters.shape, planes.shape)
        is_plain = frame[:6] == (1, 1, 1, 1, 0, 0) and images.shape[2:] == planes.shape[2:]
        self._is_unfolded = not is_plain or self._at_once > 1
        self._portions = list(self._cut())

    def _cut(self) -> Iterator[_Portion]:
        rows = self._planes.shape[2]
        for first in range(0, len(self._images), self._at_once):
            for line in range(0, rows, self._lines):
                yield self._portion(slice(first, first + self._at_once), line, min(line + self._lines, rows))

    def _portion(self, some: slice, line: int, end: int) -> _Portion:
        images, columns = self._images[some], self._planes.shape[3]
        (groups, filters, window), (count, places) = (
            self._weights.shape,
            (len(images), (end - line) * columns),
        )
        span = slice(line * columns, end * columns)
        planes = self._planes[some].reshape(count, groups, filters, -1)[..., span]
        wanted, beside, unfolded = planes.transpose(1, 2, 0, 3), None, None
        if "beside" in self._scratch:
            beside = _part(self._scratch["beside"], (groups, filters, count, places))
        if self._is_unfolded:
            unfolded = _part(self._scratch["seen"], (groups * window, count, places))
        if unfolded is None:
            seen = images.reshape(groups, window, -1)[..., span]
        else:
            seen = unfolded.reshape(groups, window, -1)
        made = planes[0] if beside is None else beside.reshape(groups, filters, -1)
        products = Filtering(self._weights, seen, made, self._scratch)
        return _Portion(images, line, unfolded, seen, made, beside, wanted, products)

    def convolving(self) -> Step:
        """What makes the planes, whenever it is called."""
        steps = [(portion, portion.products.planes()) for portion in self._portions]

        def convolve() -> None:
            for portion, multiply in steps:
                self._look(portion)
                multiply()
                if portion.beside is not None:
                    np.copyto(portion.wanted, portion.beside)

        return convolve

    def weighing(self, out: np.ndarray) -> Step:
        """What makes the gradient of the filters of images and the planes' gradient.

        BLAS is faster with the transpose of few numbers; many are out of the cache when they are turned.
        """
        is_turned = out.size < LARGE and not any(each.products.is_laid_out for each in self._portions)
        (groups, filters, window), again = self._weights.shape, self._scratch["weights"]
        total, more = (again, out) if is_turned else (out, again)
        shape = (groups, window, filters) if is_turned else (groups, filters, window)
        total, more = total.reshape(shape), more.reshape(shape)
        targets = [more if number else total for number in range(len(self._portions))]
        steps = [
            (portion, portion.products.weights(target, is_turned=is_turned))
            for portion, target in zip(self._portions, targets, strict=True)
        ]

        def weigh() -> None:
            if not steps:
                total.fill(0)
            for number, (portion, multiply) in enumerate(steps):
                self._look(portion)
                self._take(portion)
                multiply()
                if number:
                    np.add(total, more, total)
            if is_turned:
                _turn(total, out.reshape(self._weights.shape))

        return weigh

    def giving_back(self) -> Step:
        """What makes the gradient of the images of the planes'."""
        from paddle._engine.kernels.images import fold  # loads numba

        steps = [(portion, portion.products.seen()) for portion in self._portions]

        def give_back() -> None:
            if self._is_unfolded:
                self._images.fill(0)
            for portion, multiply in steps:
                self._take(portion)
                multiply()
                if portion.unfolded is not None:
                    fold(portion.unfolded, self._frame, portion.line, portion.images)

        return give_back

    def _look(self, portion: _Portion) -> None:
        from paddle._engine.kernels.images import unfold  # loads numba

        if portion.unfolded is not None:
            unfold(portion.images, self._frame, portion.line, portion.unfolded)

    def _take(self, portion: _Portion) -> None:
        if portion.beside is not None:
            np.copyto(portion.beside, portion.wanted)


def _part(array: np.ndarray, shape: Shape) -> np.ndarray:
    """As much of the array as has this shape."""
    return array[: prod(shape)].reshape(shape)


def _turn(source: np.ndarray, target: np.ndarray) -> None:
    """The transpose of matrices, in strips that the cache has room for."""
    for start in range(0, source.shape[1], STRIP):
        np.copyto(target[..., start : start + STRIP], source[:, start : start + STRIP].swapaxes(1, 2))
