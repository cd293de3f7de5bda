"""Gradients that a trainer clips before it gives them away, through any number of shards.

A norm is one of whole gradients, of which a shard has a part: so trainers clip, and shards hear nothing of
it. What leaves early, while other gradients are computed, must be what was clipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import Exchange
from paddle._pserver.trainer.local import LocalExchange
from tests.engine.clipping import Clip, ClipByGlobalNorm, ClipByNorm, ClipByValue

from ..conftest import Start
from ..overlapping import Net, threads

__all__ = ["threads"]

CLIPS = [ClipByValue(-2e-5, 1e-5), ClipByNorm(1e-3), ClipByGlobalNorm(1e-3)]
SEEDS = (11, 12, 13)


def trained(exchange: Exchange, clip: Clip | None, seeds: tuple[int, ...] = SEEDS) -> dict[str, np.ndarray]:
    trainer = Net(clip=clip).begin(exchange)
    exchange.begin_pass(0)
    for seed in seeds:
        trainer.step(seed)
    exchange.end_pass(0)
    exchange.fetch()
    return {name: array.copy() for name, array in trainer.arrays.items()}


@pytest.mark.parametrize("shape", [(1, 1), (3, 2)], ids=str)
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: type(clip).__name__)
@pytest.mark.usefixtures("threads")
def test_what_is_clipped_equals_one_process_with_any_number_of_shards(
    start_pservers: Start, clip: Clip, shape: tuple[int, int]
) -> None:
    ports, sparse = shape
    pservers = start_pservers(ports_num=ports, ports_num_for_sparse=sparse)
    (there,) = pservers.train(lambda exchange: trained(exchange, clip))
    here, plain = trained(LocalExchange(), clip), trained(LocalExchange(), None)
    for name, array in here.items():
        assert there[name].tobytes() == array.tobytes(), name
        assert array.tobytes() != plain[name].tobytes(), name


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: type(clip).__name__)
def test_each_trainer_clips_the_gradient_of_its_own_batch(start_pservers: Start, clip: Any) -> None:
    """So two of them move parameters by what both move them alone."""
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2, num_gradient_servers=2)
    both = pservers.train(*(lambda exchange, seed=seed: trained(exchange, clip, (seed,)) for seed in (1, 2)))
    alone = [trained(LocalExchange(), clip, (seed,)) for seed in (1, 2)]
    before = trained(LocalExchange(), clip, ())
    for name, array in before.items():
        assert both[0][name].tobytes() == both[1][name].tobytes(), name
        moved = sum(each[name].astype(np.float64) - array for each in alone)
        error = np.linalg.norm(both[0][name] - array - moved)
        assert error < 0.1 * np.linalg.norm(moved), (
            name
        )  # moves are small beside values, and these are rounded
