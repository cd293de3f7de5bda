"""Trainers in step tell all shards that one has not yet what all are to have."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

from paddle._pserver.shard.state import State
from tests.waiting import until

from ..conftest import MODEL, TIMEOUT_S, Start, update, values_of
from ..test_equality import gradients_of


class Disks:
    """Of a dense and a sparse shard; the latter's stands still at times. ``versions``: that last, by role."""

    def __init__(self) -> None:
        self.versions: dict[str, list[int]] = defaultdict(list)
        self.goes_on = threading.Event()
        self.goes_on.set()

    def save(self, state: State) -> None:
        role = "sparse" if "values/emb" in state.arrays else "dense"
        if role == "sparse":
            assert self.goes_on.wait(TIMEOUT_S)
        self.versions[role].append(state.facts.version)

    def state_of(self, version: int) -> Any:
        raise NotImplementedError


def test_while_one_shard_still_writes_the_others_wait_with_the_next_one(start_pservers: Start) -> None:
    disks = Disks()
    exchange = start_pservers(ports_num_for_sparse=1, kept=disks).exchange(0)
    exchange.start(MODEL, update(), values_of(MODEL, 0))
    until(lambda: disks.versions == {"dense": [0], "sparse": [0]}, "both to have the first values")
    disks.goes_on.clear()
    for step in range(9):  # each of which is one that is due
        exchange.step(gradients_of(MODEL, step), 4)
    until(lambda: len(disks.versions["dense"]) > 1, "the dense one to have written")
    assert disks.versions["sparse"] == [0]
    assert disks.versions["dense"] in ([0, 1], [0, 1, 2]), "what is said of a step is heard with the next"
    disks.goes_on.set()

    def both_have() -> int:
        version = exchange.step(gradients_of(MODEL, 0), 4).version
        both = set(disks.versions["sparse"]) & set(disks.versions["dense"])
        return max(both) > 9 and version

    assert until(both_have, "a version that both have") > 9
    exchange.close()
