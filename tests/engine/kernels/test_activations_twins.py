"""Activations, softmax and the error function against numpy's, and first values of rows against Python's."""

from __future__ import annotations

from math import erf, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from paddle._engine.kernels import bends, biased, exponential, first_values, normal, softmax
from tests.engine.kernels.case import SEEDS, Case, Draw, filled, generator, held, integer, special
from tests.engine.kernels.case import normal as drawn
from tests.engine.kernels.hash_twins import draws

Array = np.ndarray
OFF = {"atol": 4e-7}
EXACT = {"atol": 0.0}


def unbend(y: Array, kind: int, clip: Any, given: Array) -> None:
    slopes = {bends.SIGMOID: y * (1 - y), bends.TANH: 1 - y * y, bends.RELU: np.where(y <= 0, 0, 1)}
    given *= slopes.get(kind, np.ones_like(y)).astype(y.dtype)
    if clip > 0:
        given *= (np.abs(y) < clip).astype(y.dtype)


def exponentials(x: Array, edge: Any, out: Array) -> None:
    out[:] = np.exp(np.maximum((x - edge).astype(np.float64), -64))


def sigmoids(x: Array) -> None:
    x[:] = 1 / (1 + np.exp(-x.astype(np.float64)))


def tanhs(x: Array) -> None:
    x[:] = np.tanh(x.astype(np.float64))


def single_errors(x: Array) -> None:
    normal.numpy_error_function(x.astype(np.float64), x)


def shares(x: Array) -> Array:
    """Of normal numbers those that are less."""
    return np.array([0.5 * (1 + erf(each * sqrt(0.5))) for each in x.tolist()], np.float64)


def gelus(x: Array) -> None:
    exact = x.astype(np.float64)
    x[:] = exact * shares(exact)


def gelu_slopes(x: Array) -> None:
    exact = x.astype(np.float64)
    x[:] = shares(exact) + exact * np.exp(-exact * exact / 2) / sqrt(2 * pi)


def cross_entropy(logits: Array, label: Array, edge: Array, shares: Array, loss: Array, ignored: Any) -> None:
    wide = [np.empty(each.shape) for each in (shares, loss)]
    softmax.numpy_softmax_cross_entropy(
        logits.astype(np.float64), label, edge.astype(np.float64), *wide, ignored
    )
    shares[:], loss[:] = wide


def biased_cross_entropy(
    logits: Array,
    bias: Array,
    label: Array,
    row: Array,
    lanes: Array,
    shares: Array,
    loss: Array,
    ignored: Any,
) -> None:
    summed = logits + bias
    cross_entropy(summed, label, summed.max(1, keepdims=True), shares, loss, ignored)


def uniform(key: Any, ids: Array, low: Any, span: Any, out: Array) -> None:
    out[:] = draws(key, ids, out.shape[1]).astype(np.float32) * np.float32(2**-24) * span + low


def normally(key: Any, ids: Array, mean: float, std: float, tail: float, out: Array) -> None:
    shares = tail + (draws(key, ids, out.shape[1]) + 0.5) * 2.0**-24 * (1 - 2 * tail)
    out[:] = np.array([NormalDist(mean, std).inv_cdf(each) for each in shares.flat]).reshape(out.shape)


def line(draw: Draw, scale: float = 3.0) -> Array:
    """Numbers, or those at whose ends something else is computed."""
    found = special(draw, integer(draw, 0, 70)) * np.float32(scale)
    return np.clip(found, -1e30, 1e30) if scale < 1 else found


def bent(draw: Draw) -> tuple[Any, ...]:
    return line(draw), integer(draw, 0, 3)


def unbent(draw: Draw) -> tuple[Any, ...]:
    y = line(draw, 1.0)
    return y, integer(draw, 0, 3), np.float32(integer(draw, 0, 1)) * np.float32(0.5), special(draw, len(y))


def below_edge(draw: Draw) -> tuple[Any, ...]:
    x = drawn(draw, integer(draw, 1, 70)) * np.float32(40)
    return x, x.max(), np.empty_like(x)


def matrix(draw: Draw) -> Array:
    return special(draw, integer(draw, 0, 5), integer(draw, 1, 140))


def with_bias(draw: Draw) -> tuple[Any, ...]:
    z = matrix(draw)
    return z, drawn(draw, z.shape[1]), np.float32(-2), np.float32(1.5)


def sloped(draw: Draw) -> tuple[Any, ...]:
    slope = matrix(draw)
    return slope, special(draw, *slope.shape), filled(slope.shape[1])


def labelled(draw: Draw) -> tuple[Array, Array, Any]:
    """Logits, labels and that which is passed over."""
    samples, classes, random = integer(draw, 0, 6), integer(draw, 1, 140), generator(draw)
    scale = np.float32((1, 30)[integer(draw, 0, 1)])
    label, ignored = random.integers(0, classes, samples), (softmax.NOBODY, -1, 0)[integer(draw, 0, 2)]
    if ignored == -1 and samples:
        label[0] = -1
    return drawn(draw, samples, classes) * scale, label, np.int64(ignored)


def costing(draw: Draw) -> tuple[Any, ...]:
    logits, label, ignored = labelled(draw)
    edge = logits.max(1, keepdims=True)
    return logits, label, edge, np.full_like(logits, 7), np.full_like(edge, 7), ignored


def costing_with_bias(draw: Draw) -> tuple[Any, ...]:
    logits, label, ignored = labelled(draw)
    bias, room = (
        drawn(draw, logits.shape[1]),
        (np.empty_like(logits, shape=logits.shape[1]), filled(biased.LANES)),
    )
    out = logits if integer(draw, 0, 1) else np.full_like(logits, 7)
    return logits, bias, label, *room, out, filled(len(logits), 1), ignored


def costing_back(draw: Draw) -> tuple[Any, ...]:
    shares, label, ignored = labelled(draw)
    return shares, label, special(draw, len(label), 1), filled(shares.shape[1]), ignored


def first(draw: Draw) -> tuple[Any, ...]:
    ids = generator(draw).integers(-(2**63), 2**63 - 1, integer(draw, 0, 9))
    return np.uint64(draw(SEEDS)) << np.uint64(integer(draw, 0, 32)), ids, integer(draw, 1, 9)


def uniformly(draw: Draw) -> tuple[Any, ...]:
    key, ids, width = first(draw)
    return key, ids, np.float32(-0.25), np.float32(0.75), filled(len(ids), width)


def with_tails(draw: Draw) -> tuple[Any, ...]:
    key, ids, width = first(draw)
    return key, ids, 3.0, 0.5, (0.0, 0.0228)[integer(draw, 0, 1)], filled(len(ids), width)


FORWARD = [
    (biased.logistic, biased.numpy_logistic, OFF),
    (biased.tangent, biased.numpy_tangent, OFF),
    (biased.rectified, biased.numpy_rectified, {"atol": 1e-30}),
]
BACKWARD = [
    (biased.logistic_slopes, biased.numpy_logistic_slopes),
    (biased.tangent_slopes, biased.numpy_tangent_slopes),
    (biased.rectified_slopes, biased.numpy_rectified_slopes),
]
LINES = [
    (exponential.sigmoids, sigmoids, {"atol": 3e-7}),
    (exponential.tanhs, tanhs, {"atol": 3e-7}),
    (normal.single_errors, single_errors, {"atol": 2e-7}),
]

test_a_kernel_is_its_twin = held(
    [
        Case(bends.bend, bends.numpy_bend, bent, **OFF),
        Case(bends.unbend, unbend, unbent, is_wide=True),
        *(Case(kernel, twin, with_bias, **off) for kernel, twin, off in FORWARD),
        *(Case(kernel, twin, sloped) for kernel, twin in BACKWARD),
        Case(exponential.exponentials, exponentials, below_edge, rtol=2e-7),
        *(Case(kernel, twin, lambda draw: (line(draw),), **off) for kernel, twin, off in LINES),
        Case(
            normal.error_function,
            normal.numpy_error_function,
            lambda draw: (line(draw).astype(np.float64),) * 2,
            atol=1e-15,
        ),
        Case(normal.gelus, gelus, lambda draw: (line(draw, 0.9),), rtol=4e-7, atol=4e-7),
        Case(normal.gelu_slopes, gelu_slopes, lambda draw: (line(draw, 0.9),), atol=4e-7),
        Case(softmax._softmax_cross_entropy, cross_entropy, costing, rtol=2e-6, atol=2e-6),
        Case(
            softmax._biased_softmax_cross_entropy,
            biased_cross_entropy,
            costing_with_bias,
            rtol=2e-6,
            atol=2e-6,
            idle=frozenset({3, 4}),
        ),
        Case(softmax._softmax_slopes, softmax.numpy_softmax_slopes, costing_back),
        Case(first_values.uniform, uniform, uniformly),
        Case(first_values.normal, normally, with_tails, rtol=2e-7),
    ]
)
