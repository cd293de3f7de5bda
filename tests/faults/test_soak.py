"""Some turns of a soak in the modes that differ in what they keep, which leave nothing behind. For longer by
hand: soak.py."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from paddle._pserver.shard.clocks import Clocks
from tests.faults.soak import growth, soak
from tests.marks import on_demand

pytestmark = [pytest.mark.faults, pytest.mark.patient]

TURNS, STEPS, WARM = 8, 150, 2
MOST_BLOCKS = 6.0
"""For each step of a trainer, of about 100 bytes. Of connections that are gone something is kept for the 30 s
in which they had to become sessions (lobby.py), which is longer than this takes."""


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is logged would be kept, by pytest."""
    monkeypatch.setattr(logging.getLogger("paddle.pserver"), "disabled", True)


@pytest.mark.parametrize("mode", ["sync", on_demand("async"), "geo"])
def test_steps_snapshots_breaks_and_passes_leave_nothing_behind(tmp_path: Path, mode: str) -> None:
    held = list(soak(mode, tmp_path, TURNS, STEPS))
    grown = growth(held[WARM:])
    assert grown.blocks < MOST_BLOCKS, held
    assert grown.files <= 2 and grown.threads <= 2, held
    assert grown.bytes < 8 << 20, held


def test_what_each_step_leaves_behind_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[object] = []
    decide = Clocks.decide

    def deciding(clocks: Clocks, trainer: int, *, dropped: bool) -> None:
        kept.extend(object() for _ in range(int(MOST_BLOCKS)))
        decide(clocks, trainer, dropped=dropped)

    monkeypatch.setattr(Clocks, "decide", deciding)
    assert growth(list(soak("async", tmp_path, TURNS, STEPS))[WARM:]).blocks > MOST_BLOCKS
