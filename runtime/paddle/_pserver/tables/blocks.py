"""Blocks: what a shard keeps of its dense parameters, and how it is updated.

Parameters that lie one after another and are updated alike are a stretch. Where a gradient lies like the
values, all of a stretch is one call of its rule: of many small parameters, calls are most of what a step
costs. It must never know who sent a gradient.

Guarantee: what is updated as a stretch is, bit for bit, what its parameters would be one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from paddle._engine.averages import average_of, state_of
from paddle._engine.exchange import UpdateSpec
from paddle._pserver.protocol.placement import Segment
from paddle._pserver.tables.gradient import MOVED
from paddle._pserver.tables.slots import how, slots_of


class Blocks:
    """One dense parameter's share of a shard. ``slots``: the rule's state of it."""

    def __init__(
        self, segment: Segment, update: UpdateSpec, values: np.ndarray, slots: Sequence[np.ndarray]
    ) -> None:
        self.name, self.span = segment.parameter.name, segment.span
        self._values, self._slots = values, slots
        self._rule, penalties, self.multiplier = how(segment.parameter, update)
        self._vector = self._rule.vector(values, slots, penalties)
        self._average = average_of(values, update.average)
        self.is_plain = update.average is None and self._rule.is_plain(penalties)

    def apply(self, gradient: np.ndarray, learning_rate: float, step: int) -> None:
        """Update by ``gradient``, as update number ``step``."""
        if gradient is not MOVED:
            self._vector.step(gradient, learning_rate * self.multiplier, step)
        if self._average is not None:
            self._average.add(self._values)
            if self._average.end_step():
                self._average.roll()

    def average(self) -> np.ndarray:
        """The values averaged over the last steps."""
        return self._values if self._average is None else self._average.mean(self._values)

    def state(self) -> dict[str, np.ndarray]:
        """See :meth:`Tables.state`; by kind."""
        slots = slots_of(self._rule, self._slots)
        return {"values": self._values, **slots, **state_of(self._average)}


class Stretch:
    """Segments one after another, all of which are updated alike."""

    def __init__(self, segments: Sequence[Segment], update: UpdateSpec, values: np.ndarray) -> None:
        start = segments[0].offset
        self._span = slice(start, segments[-1].span.stop)
        rule, penalties, self._multiplier = how(segments[0].parameter, update)
        own = values[self._span]
        slots = [np.zeros_like(own) for _ in rule.slots]
        self._vector = rule.vector(own, slots, penalties)
        self._is_one = len(segments) > 1 and not rule.needs_whole and update.average is None
        spans = [slice(each.offset - start, each.offset - start + each.size) for each in segments]
        self.blocks = [
            Blocks(segment, update, own[span], [slot[span] for slot in slots])
            for segment, span in zip(segments, spans, strict=True)
        ]

    def apply(self, whole: np.ndarray, learning_rate: float, step: int) -> None:
        """Update by gradients that lie in ``whole`` as the values do in those of the shard."""
        if self._is_one:
            self._vector.step(whole[self._span], learning_rate * self._multiplier, step)
            return
        for blocks in self.blocks:
            blocks.apply(whole[blocks.span], learning_rate, step)


def stretches(segments: Sequence[Segment], update: UpdateSpec, values: np.ndarray) -> list[Stretch]:
    """All that a shard keeps in its flat ``values``."""
    alike = groupby(segments, key=lambda segment: how(segment.parameter, update))
    return [Stretch(list(group), update, values) for _, group in alike]
