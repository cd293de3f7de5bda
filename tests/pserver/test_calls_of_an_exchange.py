"""What a small exchange costs besides its arithmetic and the system's calls: calls of functions of this
package, on either side. They are most of it, so they are counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import paddle
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.service.session import Session

from .conftest import Start

RUNTIME = str(Path(paddle.__file__).parent)
SPEC = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.5))
STEPS = 6


def counted(work: Callable[[], object]) -> list[str]:
    """The functions of the package that are called in this thread, in order, but for the looks of who waits:
    these are as many as the other side takes long."""
    called: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(RUNTIME):
            called.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return [each for each in called if each != "link.py:<lambda>"]


@pytest.fixture
def calls(start_pservers: Start, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Of the shortest of some steps with one dense shard of this machine, by side: in another one a trainer
    may have waited so long that it looked around."""
    asked: list[list[str]] = []
    told: list[list[str]] = []
    updated = Session.buffer_updated

    def counting(self: Session, nbytes: int) -> None:
        told.append(counted(lambda: updated(self, nbytes)))

    def train(exchange: Any) -> None:
        values = exchange.start([ParameterSpec(name="w", shape=(256,))], SPEC, {"w": np.zeros(256, "f4")})
        exchange.begin_pass(0)
        gradients = {"w": np.ones(256, np.float32)}
        asked.extend(counted(lambda: exchange.step(gradients, 1)) for _ in range(STEPS))
        assert values["w"][0] == -0.5 * STEPS
        exchange.end_pass(0)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "buffer_updated", counting)
        start_pservers(is_nearby=True).train(train, shares_memory=False)
    steps = [each for each in told if "training.py:_push" in each]
    assert len(steps) == len(asked)
    return {"trainer": min(asked, key=len), "shard": min(steps, key=len)}


def test_a_trainer_makes_at_most_69_calls(calls: dict[str, list[str]]) -> None:
    assert len(calls["trainer"]) <= 69, calls["trainer"]


def test_a_shard_makes_at_most_84_calls(calls: dict[str, list[str]]) -> None:
    assert len(calls["shard"]) <= 84, calls["shard"]
