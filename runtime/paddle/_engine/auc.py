"""AUC: how often a sample of one kind has a higher score than one of another, the area under the ROC curve.

Measures of all generations end in it. It must never know a sample: it is told how many of either kind have a
score. Guarantee: of samples with one score half of the pairs count.
"""

from __future__ import annotations

import numpy as np


def area_under_curve(positive: np.ndarray, negative: np.ndarray, alone: float = 0.0) -> float:
    """``positive`` and ``negative``: counts or weights of samples by score, in bins from the lowest to the
    highest. ``alone``: what it is where there are samples of one kind only, or none."""
    below = np.cumsum(negative)
    pairs = float(below[-1]) * float(positive.sum()) if below.size else 0.0
    return float(positive @ (2 * below - negative)) / 2 / pairs if pairs else alone
