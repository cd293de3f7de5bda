"""Account: what a value must have come to, from what processes pushed and what became of each push.

A push counts once on a shard; not at all if the shard said that it discarded it, or has lost it. Of some
pushes nobody can tell: they are in doubt, and count or do not.

It must never know a file or a process. Guarantee: what lies between ``least`` and ``most`` may be right, and
where nothing is in doubt, nothing lies between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from tests.faults.random_faults.ledger import Pushes


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of the pushes of a process at one shard. ``lost``: their numbers, from 1. ``is_sure``: the
    lost ones are this process's; else they may be those of another that was before or after it.
    ``may_forget``: nobody told the shard, when it was started again, what this process had made it count."""

    lost: Collection[int] = ()
    is_sure: bool = True
    may_forget: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """By how much the values of every slot have been moved, at least and at most."""

    least: np.ndarray
    most: np.ndarray


def span(pushes: Pushes, shard: int, fate: Fate, kept: float = 0.0) -> Span:
    """By the pushes of one process. ``kept``: so large a part of its largest one rounding may leave behind in
    the process for the next; what is left there when it ends comes nowhere."""
    numbers = np.arange(1, len(pushes.moves) + 1)
    is_lost = np.isin(numbers, list(fate.lost))
    may_count = ~pushes.is_dropped[:, shard] & ~(is_lost & fate.is_sure)
    in_doubt = (numbers > pushes.answered) | is_lost | fate.may_forget
    moves = pushes.moves[:, shard]
    sure, doubted = moves[may_count & ~in_doubt].sum(0), moves[may_count & in_doubt]
    behind = kept * np.abs(moves).max(0, initial=0)
    least, most = np.minimum(doubted, 0).sum(0) - behind, np.maximum(doubted, 0).sum(0) + behind
    return Span(sure + least, sure + most)


def together(spans: Iterable[Span]) -> Span:
    """By those of several."""
    found = list(spans)
    return Span(np.sum([one.least for one in found], 0), np.sum([one.most for one in found], 0))
