"""Seeded data and first parameter values that all contenders of the models share.

Words are drawn as in real text, the k-th most frequent with a weight of 1/k: batches repeat rows as text
does.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

CONTEXT = 4
EMBEDDING = 32
HIDDEN = 256
FEATURES = 13
_BATCHES = 20

Batch = tuple[np.ndarray, np.ndarray]


def gram_batches(vocabulary: int, batch: int) -> list[Batch]:
    """Batches of 5-grams: int64 context (batch, 4) and int64 next word (batch,)."""
    generator = np.random.default_rng(20)
    share = np.cumsum(1.0 / np.arange(1, vocabulary + 1))
    drawn = generator.random((_BATCHES, batch, CONTEXT + 1)) * share[-1]
    words = np.searchsorted(share, drawn).astype(np.int64)
    return [(np.ascontiguousarray(grams[:, :-1]), grams[:, -1].copy()) for grams in words]


def house_batches(batch: int) -> list[Batch]:
    """Batches of houses: float32 features (batch, 13) and prices (batch, 1), linear in them but for noise."""
    generator = np.random.default_rng(13)
    weights = generator.standard_normal((FEATURES, 1), np.float32)
    features = generator.standard_normal((_BATCHES, batch, FEATURES), np.float32)
    noise = generator.standard_normal((_BATCHES, batch, 1), np.float32)
    return list(zip(features, features @ weights + np.float32(0.1) * noise, strict=True))


def word2vec_start(vocabulary: int) -> Mapping[str, np.ndarray]:
    """First values of the word2vec model: table, hidden layer, output layer."""
    generator = np.random.default_rng(5)

    def normal(rows: int, columns: int, deviation: float) -> np.ndarray:
        return generator.standard_normal((rows, columns), np.float32) * np.float32(deviation)

    return {
        "table": normal(vocabulary, EMBEDDING, 0.1),
        "hidden_w": normal(CONTEXT * EMBEDDING, HIDDEN, (CONTEXT * EMBEDDING) ** -0.5),
        "hidden_b": np.zeros(HIDDEN, np.float32),
        "output_w": normal(HIDDEN, vocabulary, HIDDEN**-0.5),
        "output_b": np.zeros(vocabulary, np.float32),
    }


def regression_start() -> Mapping[str, np.ndarray]:
    """First values of the linear regression."""
    return {"w": np.zeros((FEATURES, 1), np.float32), "b": np.zeros(1, np.float32)}
