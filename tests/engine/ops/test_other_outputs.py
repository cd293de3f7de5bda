"""What operators give besides their first output, where a program can read it: against plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine.single import Single

RNG = np.random.default_rng(43)
X, CUBE = RNG.normal(size=(5, 4)), RNG.normal(size=(2, 3, 4))
IMAGES = RNG.normal(size=(2, 2, 4, 6))
BIAS, LABEL = RNG.normal(size=(1, 4)), RNG.integers(0, 4, size=(5, 1))
CHANNELS = {slot: RNG.uniform(0.5, 1.5, size=(1, 4)) for slot in ("Scale", "Bias", "Mean", "Variance")}
RUNS = {"Offsets": np.array([0, 2, 2, 5]), "YOffsets": np.array([0, 1, 3, 4])}
BLOCKS = IMAGES.reshape(2, 2, 2, 2, 3, 2).transpose(0, 1, 2, 4, 3, 5).reshape(2, 2, 2, 3, 4)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x)
    shares: np.ndarray = e / e.sum(-1, keepdims=True)
    return shares


def places() -> np.ndarray:
    """Where the greatest of each 2 x 2 stands in its image, counted row by row."""
    i, j = np.meshgrid(range(2), range(3), indexing="ij")
    down, across = np.divmod(BLOCKS.argmax(-1), 2)
    found: np.ndarray = (2 * i + down) * 6 + 2 * j + across
    return found


Given = dict[str, np.ndarray]
OUTPUTS: list[tuple[str, Given, dict[str, Any], Given]] = [
    ("argsort", {"X": X}, {}, {"Indices": X.argsort(-1)}),
    ("argsort", {"X": CUBE}, {"axis": 1, "descending": True}, {"Indices": (-CUBE).argsort(1)}),
    ("top_k", {"X": X}, {"k": 2}, {"Indices": (-X).argsort(1)[:, :2]}),
    (
        "max_pool2d",
        {"X": IMAGES},
        {"ksize": (2, 2), "strides": (2, 2)},
        {"Out": BLOCKS.max(-1), "Places": places()},
    ),
    ("adaptive_max_pool2d", {"X": IMAGES}, {"size": (2, 3)}, {"Out": BLOCKS.max(-1), "Places": places()}),
    ("softmax_with_cross_entropy", {"Logits": X, "Label": LABEL}, {}, {"Softmax": softmax(X)}),
    ("softmax_with_soft_labels", {"Logits": X, "Label": softmax(X)}, {}, {"Softmax": softmax(X)}),
    ("bias_softmax_cost", {"X": X, "Bias": BIAS, "Label": LABEL}, {}, {"Softmax": softmax(X + BIAS)}),
    ("standardize", {"X": X}, {"begin_norm_axis": 1}, {"Mean": X.mean(1), "Variance": X.var(1)}),
    (
        "batch_norm",
        {"X": X, **CHANNELS},
        {},
        {"SavedMean": X.mean(0), "SavedInverse": (X.var(0) + 1e-5) ** -0.5},
    ),
    ("sequence_concat", {"X": X, "Y": X[:4], **RUNS}, {}, {"OutOffsets": np.array([0, 3, 5, 9])}),
    ("dropout", {"X": X}, {"is_test": True, "dropout_implementation": "upscale_in_train"}, {"Out": X}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("type", "inputs", "attrs", "expected"), OUTPUTS)
def test_every_output_that_is_read_is_numpys(
    type: str, inputs: Given, attrs: dict[str, Any], expected: Given, dtype: Any
) -> None:
    slots = {slot: [v.astype(dtype) if v.dtype.kind == "f" else v] for slot, v in inputs.items()}
    found = Single(type, slots, attrs).forward()
    for slot, wanted in expected.items():
        np.testing.assert_allclose(found[slot], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kept", [0.9, 0.2])
@pytest.mark.parametrize("type", ["batch_norm", "batch_norm_told"])
def test_a_moving_mean_moves_towards_that_of_the_batch(type: str, kept: float) -> None:
    slots = {slot: [value.copy()] for slot, value in {"X": X, **CHANNELS}.items()}
    told = {"Momentum": [np.array([kept])]} if type == "batch_norm_told" else {}
    single = Single(type, slots | told, {"momentum": 1 - kept if told else kept})  # what is told is heard
    single.forward()
    for slot, new in (("Mean", X.mean(0)), ("Variance", X.var(0))):
        moved = kept * CHANNELS[slot] + (1 - kept) * new
        np.testing.assert_allclose(single.inputs[slot][0], moved, rtol=1e-12)


def test_gradients_follow_from_no_momentum() -> None:
    """That of an attribute or of a variable: they are those of the batch, bit for bit."""
    given, slots = RNG.normal(size=X.shape), {"X": X, **CHANNELS}
    found = []
    for type, momentum in (("batch_norm", 0.9), ("batch_norm_told", 0.9), ("batch_norm_told", 0.2)):
        told = {"Momentum": np.array([momentum])} if type == "batch_norm_told" else {}
        arrays = {slot: [value.copy()] for slot, value in (slots | told).items()}
        single = Single(type, arrays, {"momentum": momentum})
        found.append(single.gradient(given, ["X", "Scale", "Bias"]))
        moved = momentum * CHANNELS["Mean"] + (1 - momentum) * X.mean(0)
        np.testing.assert_allclose(single.inputs["Mean"][0], moved, rtol=1e-12)
    for other in found[1:]:
        for slot, (gradient,) in other.items():
            np.testing.assert_array_equal(gradient, found[0][slot][0])
