"""Seeded batches and first parameter values that all contenders of the models share.

Words are drawn as in real text, the k-th most frequent with a weight of 1/k: batches repeat rows as text
does. Ids of the click model are drawn with equal chances, the worst case for a cache. All parameters are
matrices as ``x @ w`` takes them; contenders that keep them otherwise turn them around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

CONTEXT, EMBEDDING, HIDDEN = 4, 32, 256
FEATURES = 13
SLOTS, TABLE, WIDTH, DENSE, LAYERS = 26, 1_000_000, 16, 13, (400, 400, 400)
PIXELS, DIGITS, MLP = 784, 10, (128, 64)
FILTERS, SIDE = (20, 50), 5
WORDS, VECTOR, STATE, LENGTHS = 5_000, 128, 512, (80, 120)
BATCHES = 20

Batch = Mapping[str, np.ndarray]
Values = Mapping[str, np.ndarray]
Settings = Mapping[str, Any]


def batches(settings: Settings) -> list[Batch]:
    """The batches of a case: arrays by name, with a row for each sample unless it says otherwise."""
    make = _BATCHES[settings["model"]]
    generator = np.random.default_rng(20)
    return [make(generator, settings) for _ in range(BATCHES)]


def part_of(batch: Batch, samples: slice) -> Batch:
    """Some samples of a batch that follow each other."""
    if "offsets" not in batch:
        return {name: array[samples] for name, array in batch.items()}
    offsets = batch["offsets"][samples.start : samples.stop + 1]
    words = batch["words"][offsets[0] : offsets[-1]]
    return {"words": words, "offsets": offsets - offsets[0], "label": batch["label"][samples]}


def start(settings: Settings) -> Values:
    """First values of a case's parameters, by name."""
    generator = np.random.default_rng(5)
    layers = _LAYERS[settings["model"]](settings)
    return {name: _drawn(generator, name, shape) for name, shape in layers}


def _drawn(generator: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Zero for a vector, which is a bias; else normal: 0.1 wide in a table, in a layer one over the root of
    what it sees."""
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    seen = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
    deviation = 0.1 if name == "table" else float(seen) ** -0.5
    return generator.standard_normal(shape, np.float32) * np.float32(deviation)


def _grams(generator: np.random.Generator, settings: Settings) -> Batch:
    """``context``: int64 (batch, 4); ``label``: int64 (batch,)."""
    words = _text(generator, settings["vocabulary"], (settings["batch"], CONTEXT + 1))
    return {"context": np.ascontiguousarray(words[:, :-1]), "label": words[:, -1].copy()}


def _text(generator: np.random.Generator, vocabulary: int, shape: tuple[int, ...]) -> np.ndarray:
    share = np.cumsum(1.0 / np.arange(1, vocabulary + 1))
    return np.searchsorted(share, generator.random(shape) * share[-1]).astype(np.int64)


def _houses(generator: np.random.Generator, settings: Settings) -> Batch:
    """``features``: float32 (batch, 13); ``price``: float32 (batch, 1), linear in them but for noise."""
    weights = np.random.default_rng(13).standard_normal((FEATURES, 1), np.float32)
    features = generator.standard_normal((settings["batch"], FEATURES), np.float32)
    noise = generator.standard_normal((settings["batch"], 1), np.float32)
    return {"features": features, "price": features @ weights + np.float32(0.1) * noise}


def _clicks(generator: np.random.Generator, settings: Settings) -> Batch:
    """``ids``: int64 (batch, 26); ``dense``: float32 (batch, 13); ``label``: int64 (batch,), 0 or 1."""
    ids = generator.integers(0, TABLE, (settings["batch"], SLOTS))
    dense = generator.random((settings["batch"], DENSE), np.float32)
    return {"ids": ids, "dense": dense, "label": (dense.sum(1) + ids[:, 0] % 3 > 7.5).astype(np.int64)}


def _images(generator: np.random.Generator, settings: Settings) -> Batch:
    """``image``: float32 (batch, 784); ``label``: int64 (batch,), which of ten patterns it is of."""
    label = generator.integers(0, DIGITS, settings["batch"])
    patterns = np.random.default_rng(28).standard_normal((DIGITS, PIXELS), np.float32)
    noise = generator.standard_normal((settings["batch"], PIXELS), np.float32)
    return {"image": patterns[label] + noise, "label": label}


def _reviews(generator: np.random.Generator, settings: Settings) -> Batch:
    """``words``: int64, of all samples; ``offsets``: where each begins; ``label``: int64 (batch,), 0 or 1."""
    lengths = generator.integers(*LENGTHS, settings["batch"], endpoint=True)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    words = _text(generator, WORDS, (int(offsets[-1]),))
    return {"words": words, "offsets": offsets, "label": generator.integers(0, 2, settings["batch"])}


Shapes = Iterator[tuple[str, tuple[int, ...]]]


def _dense(sizes: tuple[int, ...]) -> Shapes:
    for number, (below, above) in enumerate(pairwise(sizes)):
        yield f"layer{number}_w", (below, above)
        yield f"layer{number}_b", (above,)


def _word2vec(settings: Settings) -> Shapes:
    yield "table", (settings["vocabulary"], EMBEDDING)
    yield from _dense((CONTEXT * EMBEDDING, HIDDEN, settings["vocabulary"]))


def _regression(settings: Settings) -> Shapes:
    yield from _dense((FEATURES, 1))


def _ctr(settings: Settings) -> Shapes:
    yield "table", (TABLE, WIDTH)
    yield from _dense((SLOTS * WIDTH + DENSE, *LAYERS, 2))
    yield "wide_w", (DENSE, 2)


def _mlp(settings: Settings) -> Shapes:
    yield from _dense((PIXELS, *MLP, DIGITS))


def _lenet(settings: Settings) -> Shapes:
    for number, (below, above) in enumerate(((1, FILTERS[0]), FILTERS)):
        yield f"filter{number}_w", (above, below, SIDE, SIDE)
        yield f"filter{number}_b", (above,)
    yield from _dense((FILTERS[-1] * 16, DIGITS))


def _lstm(settings: Settings) -> Shapes:
    """The gates, in this order: candidate, input, forget, output."""
    yield "table", (WORDS, VECTOR)
    yield "outside_w", (VECTOR, 4 * STATE)
    yield "before_w", (STATE, 4 * STATE)
    yield from _dense((STATE, 2))


_BATCHES: Mapping[str, Callable[[np.random.Generator, Settings], Batch]] = {
    "word2vec": _grams,
    "regression": _houses,
    "ctr": _clicks,
    "mlp": _images,
    "lenet": _images,
    "lstm": _reviews,
}
_LAYERS: Mapping[str, Callable[[Settings], Shapes]] = {
    "word2vec": _word2vec,
    "regression": _regression,
    "ctr": _ctr,
    "mlp": _mlp,
    "lenet": _lenet,
    "lstm": _lstm,
}
