"""The log of a pserver that shows what can be seen: how often, and how much of it there is in the end."""

from __future__ import annotations

import logging
import re

import pytest

from paddle._pserver.options import SnapshotOptions
from paddle._pserver.service.hub import Hub

from ..talk import Talk, gradient

G = gradient([1.0, 2.0, 3.0, 4.0], [1])


def test_many_short_steps_are_logged_no_oftener_than_every_few_seconds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "paddle.pserver")
    hub, now = Hub(Talk(20, log_period_server=2).shard, "dense shard 0"), 0.0
    monkeypatch.setattr("paddle._pserver.service.hub.time.monotonic", lambda: now)
    for step in range(1, 401):
        now += 0.125
        hub.shard.clocks.version = step
        hub._tell_progress()
    told = [int(found) for found in re.findall(r"(\d+) steps: per second", caplog.text)]
    assert told == [*range(2, 42, 2), 120, 200, 280, 360]
    assert "trainer 15 expected" in caplog.text and "trainer 16 expected" not in caplog.text
    assert caplog.text.count("and 4 trainers more, none of them further behind") == 24


def test_the_log_of_a_week_of_short_steps_is_a_few_mebibytes(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "paddle.pserver")
    talk, now = Talk(1), 0.0
    talk.hello(0, "process 0")
    talk.declare(0)
    talk.seed()
    talk.push(0, G)
    monkeypatch.setattr("paddle._pserver.service.hub.time.monotonic", lambda: now)
    hub, days = Hub(talk.shard, "dense shard 0"), []
    for _ in range(7):
        caplog.clear()
        for _ in range(86_400 // 5):
            now += 5.0
            hub.shard.clocks.version += 500
            hub._tell_progress()
        days.append(sum(len(record.getMessage()) for record in caplog.records))
    assert 1 << 19 < sum(days) < 5 << 20, days
    assert max(days[1:]) < days[0]


def test_steps_alone_log_nothing_at_the_shard(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever shows them has a pace (hub.py); a note for every period would have none."""
    talk = Talk(1, log_period_server=1)
    talk.hello(0, "process 0")
    talk.declare(0)
    talk.seed()
    talk.notes.clear()
    for _ in range(3):
        talk.push(0, G)
    assert not talk.notes


def test_a_restored_shard_logs_nothing_of_steps_before_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "paddle.pserver")
    before = Talk(1, log_period_server=2, snapshots=SnapshotOptions(folder="kept", period=1))
    before.hello(0, "process 0")
    before.declare(0)
    before.seed()
    for _ in range(3):
        before.push(0, G)
    hub = Hub(before.restart().shard, "dense shard 0")
    assert hub.shard.clocks.version == 3
    hub._tell_progress()
    assert "per second" not in caplog.text
    hub.shard.clocks.version = 4
    hub._tell_progress()
    assert "4 steps: per second" in caplog.text
