"""The exchange that all contenders do: give a gradient, get the parameters after one step of descent."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import cache
from itertools import count

import numpy as np

LEARNING_RATE = 0.25
_EXCHANGES_TO_ANSWER = 3


def start(floats: int) -> np.ndarray:
    """First parameter values: small whole numbers, with which the arithmetic is exact."""
    return (np.arange(floats) % 7).astype(np.float32)


def gradient(floats: int) -> np.ndarray:
    """The gradient that every exchange gives."""
    return (np.arange(floats) % 5).astype(np.float32)


@cache
def cores() -> tuple[int, int]:
    """The client's and the server's core: two different ones, where this process may use two.

    The first call decides, before anything is pinned. Left to the scheduler, a small exchange costs half when
    both sides happen to share a core.
    """
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


def keep_to(core: int) -> None:
    """Pin this process."""
    os.sched_setaffinity(0, {core})


def stepper(values: np.ndarray) -> Callable[[np.ndarray], None]:
    """What a server does with a gradient: one step of descent, by the rule that pservers apply."""
    from paddle._engine.exchange import RuleSpec
    from paddle._engine.penalties import Penalties
    from paddle._engine.rules import rule

    parameter, steps = rule(RuleSpec(name="sgd")).vector(values, (), Penalties()), count(1)

    def step(pushed: np.ndarray) -> None:
        parameter.step(pushed, LEARNING_RATE, next(steps))

    return step


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer(run: Callable[[int], None], values: np.ndarray) -> float:
    """The sum of the parameters after three exchanges: each must have gone, been applied and come back."""
    run(_EXCHANGES_TO_ANSWER)
    return float(values.sum(dtype=np.float64))
