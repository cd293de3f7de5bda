"""Cases of operators that give back counts, with twins."""

from __future__ import annotations

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(31)
SEEN = RNG.normal(size=(5, 4))
SLOTS = SEEN.copy()
SLOTS[1, 0] = SLOTS[:, 2] = 0.0
KEPT = {slot: RNG.uniform(1.0, 3.0, size=4) for slot in ("Size", "Sum", "Square")}
SHOWS = RNG.uniform(0.5, 3.0, size=(5, 4))
COUNTS = RNG.integers(0, 3, size=(5, 2)).astype(np.float64)


def normalized(x: np.ndarray) -> np.ndarray:
    return (x - KEPT["Sum"] / KEPT["Size"]) * np.sqrt(KEPT["Size"] / KEPT["Square"])


def in_slots() -> np.ndarray:
    return normalized(SLOTS) * np.repeat(SLOTS[:, ::2] != 0, 2, axis=1)


def logged() -> np.ndarray:
    logs = np.log(SHOWS[:, :2] + 1)
    return np.column_stack([logs[:, 0], logs[:, 1] - logs[:, 0], SHOWS[:, 2:]])


PUSHED = {"X": SHOWS, "Counts": COUNTS, "Samples": np.arange(3)}
TALLIES = [
    Case("data_norm", {"X": SEEN, **KEPT}, lambda: normalized(SEEN), has_slope=False),
    Case("data_norm", {"X": SLOTS, **KEPT}, in_slots, {"slot_dim": 2}, has_slope=False),
    Case("cvm", {"X": SHOWS, "Counts": COUNTS}, logged, has_slope=False),
    Case("cvm", {"X": SHOWS, "Counts": COUNTS}, lambda: SHOWS[:, 2:], {"is_kept": False}, has_slope=False),
    Case("pushed_rows", PUSHED, lambda: SHOWS[:, 2:], has_slope=False),
    Case("pushed_rows", PUSHED, lambda: SHOWS[:, 2:], {"of_runs": True}, has_slope=False),
]
TALLIES_WRONG = [
    ("data_norm", {"X": SEEN, **KEPT, "Sum": np.ones(3)}, {}, "Sum .* has no number for each of 4 columns"),
    ("data_norm", {"X": SEEN, **KEPT}, {"slot_dim": 3}, "4 columns are not slots of 3"),
    ("cvm", {"X": SHOWS, "Counts": COUNTS[:3]}, {}, "two columns of 5 rows"),
    ("cvm", {"X": SHOWS[:, :1], "Counts": COUNTS}, {}, "two columns for shows and clicks"),
    ("pushed_rows", {**PUSHED, "X": SHOWS[:, :2]}, {}, "two columns for shows and clicks before others"),
    ("pushed_rows", {**PUSHED, "Counts": COUNTS[:3]}, {}, "two columns of one row or of all"),
]
