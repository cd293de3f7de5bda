"""A table of the original's ``SparseAccessor``, row by row, in numpy: as servers of 2.2 to 2.6 have it.

It knows a row's first numbers from whoever draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

Numbers = Mapping[str, float]
F = np.float32


@dataclass
class Part:
    """Numbers that one rule moves."""

    kind: str
    told: Numbers
    state: dict[str, np.ndarray] = field(default_factory=dict)

    def bounded(self, values: np.ndarray) -> np.ndarray:
        return np.clip(values, self.told.get("least", -10), self.told.get("most", 10)).astype(F)

    def move(self, w: np.ndarray, g: np.ndarray, shows: float) -> np.ndarray:
        rate = self.told["rate"]
        if self.kind == "naive":
            return self.bounded(w - rate * g)
        if self.kind == "adam":
            return self._adam(w, g, rate)
        squares = self.state.setdefault("squares", np.zeros(len(w) if self.kind == "std_adagrad" else 1, F))
        scaled, first = g / F(shows), self.told.get("first_sum", 3.0)
        moved = self.bounded(w - rate * scaled * np.sqrt(first / (first + squares)))
        squares += scaled**2 if self.kind == "std_adagrad" else np.mean(scaled**2)
        return moved

    def _adam(self, w: np.ndarray, g: np.ndarray, rate: float) -> np.ndarray:
        beta1, beta2 = self.told.get("beta1", 0.9), self.told.get("beta2", 0.999)
        m, v = (self.state.get(name, np.zeros(len(w))) for name in "mv")
        n = int(self.state.get("n", np.zeros(1))[0]) + 1
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        self.state |= {"m": m, "v": v, "n": np.full(1, n)}
        pace = rate * np.sqrt(1 - F(beta2) ** n) / (1 - F(beta1) ** n)
        return self.bounded(w - pace * m / (np.sqrt(v) + self.told.get("epsilon", 1e-8)))


@dataclass
class Row:
    """One row: its counts, its first number and the others, which are there or are not."""

    first: np.ndarray
    others: np.ndarray
    embed: Part
    embedx: Part
    shows: float = 0.0
    clicks: float = 0.0
    unseen_days: int = 0
    is_whole: bool = False


class Accessor:
    """``drawn``: the first numbers of a row by its id, before bounds: the first one, and the others."""

    def __init__(
        self,
        embed: tuple[str, Numbers],
        embedx: tuple[str, Numbers],
        param: Numbers,
        drawn: Callable[[int], tuple[np.ndarray, np.ndarray]],
    ) -> None:
        self.rules, self.param, self.drawn = (embed, embedx), param, drawn
        self.rows: dict[int, Row] = {}

    def score(self, row: Row) -> float:
        nonclk, click = self.param.get("nonclk_coeff", 0.1), self.param.get("click_coeff", 1.0)
        return (row.shows - row.clicks) * nonclk + row.clicks * click

    def pull(self, id: int, width: int) -> np.ndarray:
        row = self.rows.get(id)
        if row is None:
            return np.zeros(width, F)
        return np.concatenate([row.first, row.others if row.is_whole else np.zeros(width - 1, F)])

    def push(self, id: int, shows: float, clicks: float, g: np.ndarray) -> None:
        if id not in self.rows:
            first, others = self.drawn(id)
            self.rows[id] = Row(first, others, *(Part(kind, told) for kind, told in self.rules))
        row = self.rows[id]
        row.shows, row.clicks, row.unseen_days = row.shows + shows, row.clicks + clicks, 0
        row.first = row.embed.move(row.first, g[:1], shows)
        if row.is_whole:
            row.others = row.embedx.move(row.others, g[1:], shows)
        row.is_whole = row.is_whole or self.score(row) >= self.param.get("embedx_threshold", 0)

    def end_day(self) -> None:
        """``fleet.shrink()``, and the save of mode 3 behind it."""
        for id, row in list(self.rows.items()):
            decay = self.param.get("show_click_decay_rate", 1)
            row.shows, row.clicks = row.shows * decay, row.clicks * decay
            is_low = self.score(row) < self.param.get("delete_threshold", 0)
            if is_low or row.unseen_days > self.param.get("delete_after_unseen_days", 30):
                del self.rows[id]
            row.unseen_days += 1
