"""Operators over all moments of packed sequences: LSTM, with a projection or without, and GRU."""

from paddle._engine.ops.recurrences import gru, lstm, moments
from paddle._engine.registry import Row

ROWS: tuple[Row, ...] = (*moments.ROWS, *lstm.ROWS, *gru.ROWS)
