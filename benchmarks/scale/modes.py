"""Modes: those that are simulated, with the numbers that jobs here give them, and how a table calls them."""

from __future__ import annotations

from paddle._engine.exchange import ModeSpec

MODES = {
    "sync": ModeSpec(),
    "async": ModeSpec(name="async"),
    "half-async, 4": ModeSpec(name="half_async", max_merge_var_num=4),
    "SSP, 3": ModeSpec(name="ssp", staleness=3),
    "GEO, 10": ModeSpec(name="geo", k_steps=10),
    "average, 10": ModeSpec(name="average", k_steps=10),
    "elastic, 10": ModeSpec(name="elastic_average", k_steps=10),
}
