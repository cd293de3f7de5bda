"""When a gradient is stale: the documented thresholds."""

from __future__ import annotations

import pytest

from paddle._pserver.messages import Push
from paddle._pserver.modes import Async, Mode, Offer, Sync, mode_of
from paddle._pserver.tables import NOTHING

from .talk import update


def push(mode: Mode, trainer: int) -> bool:
    """Whether the push of ``trainer`` counts; its answer brings it up to date."""
    mode.offer(Offer(trainer, Push(1, 0, 1), NOTHING))
    due = mode.due(frozenset())
    assert due is not None
    mode.refreshed(trainer)
    return not due.discard


@pytest.mark.parametrize(
    ("trainers", "ratio", "others"),
    [
        (1, 1.5, None),
        (1, 1.6, None),
        (2, 1.5, 2),
        (2, 1.6, 2),
        (3, 1.5, 3),
        (4, 1.6, 5),
        (10, 1.01, 9),
        (2, 1.01, 1),
    ],
)
def test_a_gradient_is_stale_after_so_many_pushes_of_others(
    trainers: int, ratio: float, others: int | None
) -> None:
    for between in range(12 if trainers > 1 else 1):
        mode = Async(trainers, ratio)
        assert push(mode, 0)
        for _ in range(between):
            push(mode, 1)
        assert push(mode, 0) == (others is None or between < others)


def test_one_trainer_alone_never_loses_a_gradient() -> None:
    mode = Async(1, 1.5)
    assert all(push(mode, 0) for _ in range(100))


def test_the_declaration_chooses_the_mode() -> None:
    assert isinstance(mode_of(update(), 2), Sync)
    assert isinstance(mode_of(update(is_async=True), 2), Async)
