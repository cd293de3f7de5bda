"""Delivery: one dense shard's part of a trainer's step, from the first final gradient to the last new value.

1.  A gradient that is final goes ahead of its push (ahead.py), where a thread can carry it.
2.  Nothing counts before the push, which is not sent before all gradients of the step are there. So a batch
    that is given up on the way leaves nothing behind.
3.  The answer lands in the trainer's arrays, the first parameters first. What has landed may be used.
4.  Gradients may change once all of the answer has landed: until then they may have to be sent again.

It must never know other shards. Guarantee: a shard so small that a thread would cost more than it saves costs
none: what it is sent and answers fits into the buffers of a connection.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.ahead import Ahead
from paddle._pserver.protocol.encoding import Coded
from paddle._pserver.protocol.landing import Landing
from paddle._pserver.protocol.messages import Answer, Push
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer.courier import Apart, Courier, Here
from paddle._pserver.trainer.dense_shard import DenseShard
from paddle._pserver.trainer.given import Arrays

APART_BYTES = 1 << 18
"""A shard with less than this of the parameters is dealt with by whoever asks it."""

_RECALL_S = 1.0


@dataclass(slots=True)
class _Given:
    """Gradients that are final, before the push."""

    ahead: Ahead
    gradients: dict[str, Coded] = field(default_factory=dict)


class Delivery:
    """See the module's text."""

    def __init__(self, shard: DenseShard) -> None:
        self.shard = shard
        self.answer: Answer | None = None
        self._courier: Courier = Here()
        self._takes: bool | None = None  # what it was chosen for
        self._sizes: Sequence[int] = ()
        self._segment_of: Mapping[str, int] = {}
        self._ends: Mapping[str, int] = {}
        self._given = _Given(Ahead(()))
        self._landing = Landing()

    def bind(
        self, parameters: Sequence[ParameterSpec], arrays: Arrays, wire: WireSpec, *, whole: bool
    ) -> None:
        """See DenseShard."""
        self.shard.bind(parameters, arrays, wire, whole=whole)
        segments = self.shard.layout.segments
        self._sizes = [4 * segment.size for segment in segments]
        self._segment_of = {segment.parameter.name: index for index, segment in enumerate(segments)}
        each = self.shard.bytes_per_value
        self._ends = {segment.parameter.name: each * segment.span.stop for segment in segments}
        self._given = _Given(Ahead(self._sizes))

    @property
    def courier(self) -> Courier:
        """Who deals with the shard. Little travels where memory is shared; a line that has come back may
        share it no more, or anew, so this is chosen with every step, before anything of it is given."""
        takes = self.shard.line.client.takes_gradients
        if takes is not self._takes and not self._given.gradients:
            self._courier.wait()
            self._courier.leave(_RECALL_S)
            is_apart = sum(self._sizes) >= APART_BYTES and not takes
            self._courier = Apart(f"to {self.shard.line.what}") if is_apart else Here()
            self._takes = takes
        return self._courier

    def begin(self) -> None:
        """A step begins: what was given of one that has not been pushed is void."""
        if self._given.gradients:
            self._courier.wait()  # it may be reading gradients that are about to change
            self._given = _Given(Ahead(self._sizes))

    def give(self, name: str, gradient: Coded) -> None:
        """This gradient is final. It must not change before the answer has landed, or a step begins."""
        segment = self._segment_of.get(name)
        if segment is None or not isinstance(self.courier, Apart):
            return
        self._given.gradients[name] = gradient
        if self._given.ahead.give(segment):
            self._courier.at_once(partial(self._send_part, self._given))

    def push(
        self, push: Push, gradients: Mapping[str, Coded], *, forms: bool, is_in_room: bool = False
    ) -> None:
        """All gradients are there; those that were given are the same."""
        courier = self.courier
        self.answer, self._landing = None, self.shard.landing(courier.wakes)
        ask = partial(self.shard.ask_push, push, gradients, forms=forms, is_in_room=is_in_room)
        if self._given.gradients:
            given, self._given = self._given, _Given(Ahead(self._sizes))
            courier.at_once(lambda: ask(told=given.ahead.rest()))
        else:
            courier.at_once(ask)
        courier.when_needed(self._hear)

    def settle(self, names: Collection[str] | None = None) -> None:
        """Wait until the values of these parameters have landed, of all if None."""
        if self.answer is None:
            until = None if names is None else partial(self._has, self._bytes_up_to(names))
            self._courier.wait(until)

    def recall(self) -> None:
        """Let nobody use the line any more, in a few seconds at most."""
        self.shard.line.is_recalled = True
        if not self._courier.leave(_RECALL_S):
            self.shard.line.client.shut()
            self._courier.leave(_RECALL_S)
        self.shard.line.is_recalled = False

    def _send_part(self, given: _Given) -> None:
        way, client = self.shard.line.way, self.shard.line.client
        due = None if way is None or client.takes_gradients or client.announces else given.ahead.part(way)
        if due is not None:
            self.shard.tell_part(due, way, given.gradients)

    def _hear(self) -> None:
        self.answer = self.shard.hear_pushed(self._landing)

    def _bytes_up_to(self, names: Collection[str]) -> int:
        return max((self._ends.get(name, 0) for name in names), default=0)

    def _has(self, size: int) -> bool:
        return self._landing.bytes_landed >= size
