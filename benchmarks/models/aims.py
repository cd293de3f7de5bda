"""What is expected of the models: the factors that were set as aims, and what is known to miss them.

Both were measured on two cores of an AMD EPYC of Zen 5 with nothing else to do; what to expect of other
processors is in docs/benchmarks.md. A miss fails a run once it is a tenth more than it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.goal import Goal
from benchmarks.samples import Quantity

ENGINE, V2, STATIC = "engine", "paddle.v2", "paddle.static"
FUSED, HAND, PRODUCTS = "fused by hand", "numpy by hand", "products alone"
TORCH, PADDLE = "torch", "Paddle 2.6"
PEERS = (TORCH, PADDLE)

AIMS: Mapping[str, tuple[float, float]] = {"word2vec": (2, 5), "ctr": (2, 5), "regression": (5, 10)}
"""How many times as fast as torch, and as Paddle, on any number of threads. All others: ahead of both."""


class Miss(NamedTuple):
    """Of an aim: how many times as fast as the peer it was, and why no more."""

    measured: float
    lacks: str


_GATHERED = "one thread adds up what both have, and takes the step of the rows, while the other waits"
_ROWS = "twenty rows become arrays at every step, and a program hears of three events"

MISSES: Mapping[tuple[str, int, str, str, Quantity], Miss] = {
    ("ctr", 1, ENGINE, PADDLE, "wall"): Miss(4.97, "products alone take nine tenths of a fifth of its time"),
    ("ctr", 2, ENGINE, TORCH, "wall"): Miss(1.94, _GATHERED),
    ("regression", 1, STATIC, TORCH, "cpu"): Miss(
        3.8, "the engine's own step takes most of a fifth of torch's"
    ),
    ("regression", 1, V2, TORCH, "cpu"): Miss(2.2, _ROWS),
    ("regression", 1, V2, PADDLE, "cpu"): Miss(8.7, _ROWS),
}
"""By model, threads, contender, peer and quantity."""

_ROOM = 1.1


def ahead(model: str, threads: int) -> tuple[Goal, ...]:
    """The engine's processor time, and its time by the clock; and less memory than either peer."""
    times: tuple[Quantity, ...] = ("cpu", "wall")
    return (
        *(_faster(model, threads, ENGINE, peer, quantity) for quantity in times for peer in PEERS),
        *(at_most(ENGINE, peer, 1.0, "memory") for peer in PEERS),
    )


def as_called(model: str) -> tuple[Goal, ...]:
    """The processor time of a step as programs call it, on one thread."""
    return tuple(_faster(model, 1, face, peer, "cpu") for face in (STATIC, V2) for peer in PEERS)


def at_most(contender: str, against: str, bound: float, quantity: Quantity = "cpu") -> Goal:
    """It has so many times what the other has, at most."""
    return Goal(contender=contender, against=against, quantity=quantity, at_most=bound)


def _faster(model: str, threads: int, contender: str, peer: str, quantity: Quantity) -> Goal:
    factor = dict(zip(PEERS, AIMS.get(model, (1.0, 1.0)), strict=True))[peer]
    miss = MISSES.get((model, threads, contender, peer, quantity))
    return Goal(
        contender=contender,
        against=peer,
        quantity=quantity,
        at_most=1 / factor,
        lacks=miss.lacks if miss else "",
        reached=_ROOM / miss.measured if miss else None,
    )
