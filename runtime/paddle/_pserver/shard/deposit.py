"""Deposit: where a shard receives a trainer's dense gradient, part by part as they come or all at once.

1.  Part number 1 begins a gradient: what came before it is void. Each of the others has the next number.
2.  A segment comes at most once in a gradient.
3.  The push ends it. It tells how many parts came before, and brings the segments that these did not bring;
    one that tells of none brings them all.
4.  A deposit is one connection's: a trainer whose connection broke begins anew.

It must never know what bytes are of, or a trainer. Guarantee: the segments that a push is counted with have
all come since part number 1, or with the push.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.placement import DenseLayout
from paddle._pserver.tables.gradient import Gradient


class Deposit:
    """See the module's text. ``gradient``: what has come, the same arrays for every push."""

    def __init__(self, layout: DenseLayout) -> None:
        self._spans = [segment.span for segment in layout.segments]
        self._values = np.empty(layout.size, np.float32)
        self.gradient = Gradient([self._values[span] for span in self._spans])
        self._whole = self._joined(range(len(self._spans)))
        self._parts = 0
        self._lacking = set(range(len(self._spans)))

    def part(self, number: int, segments: Sequence[int]) -> list[memoryview]:
        """Where the body of part ``number`` goes, which brings ``segments``."""
        if number == 1:
            self._lacking = set(range(len(self._spans)))
        elif number != self._parts + 1:
            raise BadMessage(f"part {number} of a gradient came after part {self._parts}")
        if len(self._lacking.intersection(segments)) != len(segments):
            raise BadMessage(
                f"a part brings the segments {segments[:9]}, and of {len(self._spans)} this shard lacks "
                f"{sorted(self._lacking)[:9]}"
            )
        self._parts = number
        self._lacking.difference_update(segments)
        return self._joined(segments)

    def rest(self, parts: int) -> list[memoryview]:
        """Where the body of a push goes that follows ``parts`` parts; the next part is another gradient's."""
        if parts not in (0, self._parts):
            raise BadMessage(f"a push tells of {parts} parts before it, {self._parts} came")
        places = self._joined(sorted(self._lacking)) if parts else self._whole
        self._parts = 0
        self._lacking.clear()
        return places

    def _joined(self, segments: Iterable[int]) -> list[memoryview]:
        """The bytes of their arrays; neighbours, where the one follows the other, are one."""
        spans: list[slice] = []
        for index in segments:
            span = self._spans[index]
            if spans and spans[-1].stop == span.start:
                span = slice(spans.pop().start, span.stop)
            spans.append(span)
        return [bytes_of(self._values[span]) for span in spans]
