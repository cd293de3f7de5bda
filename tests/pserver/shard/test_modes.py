"""When a gradient is stale: the documented thresholds."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.messages import Push
from paddle._pserver.shard.modes import Async, Mode, Offer, Ssp, Sync, mode_of
from paddle._pserver.tables.gradient import NOTHING

from ..talk import update


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


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (ModeSpec(), Sync),
        (ModeSpec(name="async"), Async),
        (ModeSpec(name="half_async"), Async),
        (ModeSpec(name="ssp"), Ssp),
        (ModeSpec(name="geo"), Async),
        (ModeSpec(name="average"), Sync),
        (ModeSpec(name="elastic_average"), Sync),
        (ModeSpec(name="average", is_async=True), Async),
    ],
)
def test_the_declaration_chooses_the_mode(mode: ModeSpec, kind: type[Mode]) -> None:
    assert isinstance(mode_of(update(mode=mode), 2, [0, 0]), kind)


@pytest.mark.parametrize("name", ["half_async", "geo"])
def test_merged_gradients_and_moves_are_never_too_old(name: Any) -> None:
    mode = mode_of(update(mode=ModeSpec(name=name)), 2, [0, 0])
    assert push(mode, 0)
    assert all(push(mode, 1) for _ in range(20))
    assert push(mode, 0)


@pytest.mark.parametrize(
    "numbers", [{"k_steps": 0}, {"max_merge_var_num": 0}, {"staleness": -1}, {"delta_add_rate": 0.0}]
)
def test_numbers_that_mean_nothing_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(numbers))):
        ModeSpec(**numbers)
