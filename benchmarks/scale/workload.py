"""Workload: what a job trains, as far as its size and pace go. Data only, and arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.framing import SMALL_BYTES
from paddle._pserver.protocol.placement import dense_layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """``floats``: of the dense parameters. ``rows``: of a sparse table of ``height`` x ``width`` that a batch
    touches, each once, drawn evenly; 0: no table. ``compute_s``: a batch's computation, on average."""

    name: str
    floats: int
    rows: int = 0
    width: int = 16
    height: int = 1_000_000
    batch: int = 512
    compute_s: float = 0.01

    @property
    def row_bytes(self) -> int:
        """An id and its values."""
        return 8 + 4 * self.width

    def touched(self, batches: float) -> float:
        """Different rows in so many batches."""
        if not self.rows:
            return 0.0
        return self.height * -math.expm1(batches * math.log1p(-min(self.rows / self.height, 1 - 1e-12)))

    @property
    def parameters(self) -> tuple[ParameterSpec, ...]:
        """As a trainer declares them."""
        dense = ParameterSpec(name="w", shape=(self.floats,))
        table = ParameterSpec(name="t", shape=(self.height, self.width), sparse=True)
        return (dense,) * bool(self.floats) + (table,) * bool(self.rows)


def is_large(body_bytes: float) -> bool:
    """Whether a message with so many bytes does not go by one buffer."""
    return body_bytes >= SMALL_BYTES


@cache
def slices(floats: int, shards: int) -> float:
    """Into how many pieces of memory placement cuts one shard's part, on average."""
    if not floats:
        return 0.0
    layouts = {0, shards // 2, shards - 1}
    parameter = ParameterSpec(name="w", shape=(floats,))
    return sum(len(dense_layout([parameter], index, shards).slices) for index in layouts) / len(layouts)
