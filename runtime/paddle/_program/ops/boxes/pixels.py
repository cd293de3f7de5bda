"""Boxes in pixels, both ends within them: as offsets from others, and back.

It must never know an operator. Guarantee: a size is at most 62.5 times that of the box that it is told from.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from paddle._engine.initial import generator_for
from paddle._program.description.operator import Operator
from paddle._program.ops.boxes.described import array_of, ends_of
from paddle._program.ops.tags import tensor_of
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets

MOST = float(np.log(1000.0 / 16.0))
"""The logarithm of how much greater a box may be than the one that it is told from."""


def _middles(boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sizes = boxes[..., 2:] - boxes[..., :2] + 1
    return boxes[..., :2] + sizes * 0.5, sizes


def decoded(boxes: np.ndarray, offset: np.ndarray, most: float | None = MOST) -> np.ndarray:
    """What lies at offsets from boxes: of the middle in sizes of the box, and logarithms of sizes."""
    middles, sizes = _middles(boxes)
    grown = offset[..., 2:] if most is None else np.minimum(offset[..., 2:], np.float32(most))
    center, half = offset[..., :2] * sizes + middles, np.exp(grown) * sizes / 2
    found: np.ndarray = np.concatenate([center - half, center + half - 1], -1)
    return found


def encoded(boxes: np.ndarray, wanted: np.ndarray, weights: Sequence[float] | None = None) -> np.ndarray:
    """The offsets of what is wanted from boxes, as ``decoded`` takes them, divided by ``weights``."""
    middles, sizes = _middles(boxes)
    right, extent = _middles(wanted)
    found: np.ndarray = np.concatenate([(right - middles) / sizes, np.log(extent / sizes)], -1)
    return found if weights is None else found / np.array(weights, found.dtype)


def clipped(boxes: np.ndarray, height: float, width: float) -> np.ndarray:
    """Boxes held within an image."""
    last = np.array([width, height, width, height], boxes.dtype) - 1
    found: np.ndarray = np.maximum(np.minimum(boxes, last), 0)
    return found


def of_images(host: Host, op: Operator, slot: str) -> list[np.ndarray]:
    """The rows of each image; a slot that takes sequences only."""
    tensor = tensor_of(host, op, slot)
    rows = tensor.array()
    return [rows[first:end] for first, end in pairwise(tensor.lod()[-1])]


def by_images(host: Host, op: Operator, slot: str) -> list[np.ndarray]:
    """The rows of each image; all are of one where none says so."""
    rows = array_of(host, op, slot)
    return [rows[first:end] for first, end in pairwise(ends_of(host, op, slot))]


def joined(images: Sequence[np.ndarray]) -> LoDTensor:
    """What images have, one after another."""
    return LoDTensor(np.concatenate(images), [offsets(map(len, images))])


def drawing(host: Host, op: Operator) -> np.random.Generator:
    """What an operator draws from in a step: the run's seed, and the name of what it gives first."""
    return generator_for(host.seed, f"{op.output_arg_names[0]}@{host.step}")
