"""What is held of a meeting about most rows of a table: nothing longer than it is needed.

The collector is off: what only it would let go is held.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import ref

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ParameterSpec, StepReport
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode

from ..conftest import Start
from .test_modes_local import update

HEIGHT, WIDTH = 40000, 16
MODEL = (ParameterSpec(name="w", shape=(3, 2)), ParameterSpec(name="t", shape=(HEIGHT, WIDTH), sparse=True))
VALUES = {p.name: np.zeros(p.shape, np.float32) for p in MODEL}
IDS = np.arange(0, HEIGHT - 1, 2)
"""Their values come in portions: more than a megabyte."""


class Watched(RemoteExchange):
    """Whether rows that were pushed, and those that were heard, are there when others are received."""

    is_pushed_still_held = is_heard_still_held = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.portions: list[int] = []

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        rows = gradients["t"]
        assert isinstance(rows, SparseRows)
        self.pushed = ref(rows.values)
        del rows
        return super().step(gradients, samples, rate=rate)

    def changes(self) -> Iterator[Mapping[str, SparseRows]]:
        self.is_pushed_still_held |= self.pushed() is not None
        heard = []
        for changed in super().changes():
            self.is_heard_still_held |= bool(heard) and heard[-1]() is not None
            heard.append(ref(changed["t"].values))
            self.portions.append(len(changed["t"].ids))
            yield changed
            del changed
        self.is_heard_still_held |= heard[-1]() is not None


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("is_nearby", [False, True])
@pytest.mark.parametrize("name", ["geo", "average"])
def test_what_was_pushed_is_let_go_before_changes_are_heard_and_these_after(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch, name: Any, is_nearby: bool
) -> None:
    monkeypatch.setattr("paddle._pserver.shard.changes.PORTION_BYTES", 1 << 20)
    mode = ModeSpec(name=name, k_steps=1, is_async=True)
    pservers = start_pservers(ports_num_for_sparse=1, num_gradient_servers=2, is_nearby=is_nearby)
    watched = pservers.exchange(0, Watched)
    job = [in_mode(watched, mode, 2), in_mode(pservers.exchange(1), mode, 2)]
    for one in job:
        one.start(MODEL, update(mode), VALUES)
    for one in reversed(job):
        rows = SparseRows(IDS, np.ones((len(IDS), WIDTH), np.float32), HEIGHT)
        one.step({"w": np.ones((3, 2), np.float32), "t": rows}, samples=1)
    assert not watched.is_pushed_still_held
    assert not watched.is_heard_still_held
    assert sum(watched.portions) == len(IDS)
    assert max(watched.portions) == (1 << 20) // (8 + 4 * WIDTH)
    for one in job:
        one.close()
