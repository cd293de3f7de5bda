"""Dense shard: a trainer's view of one that keeps dense parameters: what it is sent, and where answers go.

Both sides compute from placement.py which values are whose. It must never know of another shard.

Guarantee: questions are asked by ``ask_...`` and answered by ``hear_...``, so that a caller can ask all
shards before it waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from paddle._engine.exchange import ParameterSpec, Past
from paddle._pserver.options import Role
from paddle._pserver.protocol.ahead import Due
from paddle._pserver.protocol.encoding import Coded, Slices, slices_by_parameter
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.landing import Landing
from paddle._pserver.protocol.messages import Answer, Part, Pull, Push, Recall, Remind, Seed
from paddle._pserver.protocol.placement import dense_layout
from paddle._pserver.protocol.rounded import Rounded
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer import past_told
from paddle._pserver.trainer.given import Arrays
from paddle._pserver.trainer.handed import SMALL_BYTES
from paddle._pserver.trainer.line import Line
from paddle._pserver.trainer.question import ReplyBytes, Short


class DenseShard:
    """A shard's blocks of dense parameters. ``arrays``: the trainer's parameters, which answers update."""

    role: Role = "dense"

    def __init__(self, line: Line, index: int, count: int) -> None:
        self.line, self.index, self.count = line, index, count
        self.layout = dense_layout((), index, count)
        self.bytes_per_value = 4  # in the answer to a push
        self._held: list[Slices] = []  # of each of the layout's segments
        self._gradients: Mapping[str, Coded] = {}  # that were pushed last
        self._pushed: tuple[list[memoryview], list[int]] = [], []  # and the parts of them
        self._rounded: Rounded | None = None
        self._into: list[memoryview] = []

    def bind(
        self, parameters: Sequence[ParameterSpec], arrays: Arrays, wire: WireSpec, *, whole: bool
    ) -> None:
        """Say what is trained, and where values live here. ``whole``: see dense_layout."""
        self.layout = dense_layout(parameters, self.index, self.count, whole=whole)
        self._held = slices_by_parameter(self.layout.slices)
        self._into = self._cut({name: bytes_of(array) for name, array in arrays.items()})
        self._rounded = Rounded(self._into) if wire.answers == "bfloat16" else None
        self.bytes_per_value = 4 if self._rounded is None else 2
        size = self.layout.size
        self.line.reply_bytes = ReplyBytes(to_push=self.bytes_per_value * size, to_end=4 * size)

    def remind(self, past: Past) -> Iterator[None]:
        """Say what the job goes on from, and pause before each answer."""
        yield from past_told.steps(self.line, past)
        for held in self._held:
            for slot, value in past.slots.get(held.name, {}).items():
                flat = bytes_of(value)
                body = [flat[4 * start : 4 * stop] for start, stop in held.bounds]
                yield from past_told.told(self.line, Remind(parameter=held.name, slot=slot), body)

    def ask_slot(self, parameter: str, slot: str) -> None:
        """Ask for what the rule remembers of a parameter."""
        self.line.send(Recall(parameter, slot), asking=f"what is remembered of {parameter!r}")

    def hear_slot(self, parameter: str, into: np.ndarray) -> None:
        """The answer: ``into``, in the parameter's shape, has what lives there."""
        flat = bytes_of(into)
        mine = [held for held in self._held if held.name == parameter]
        self.line.answer([flat[4 * start : 4 * stop] for held in mine for start, stop in held.bounds])

    def seed(self, values: Arrays) -> Iterator[None]:
        """Give the initial values, and pause before each answer."""
        body = self._cut({name: bytes_of(value) for name, value in values.items()})
        self.line.send(Seed(), body, asking="to take initial values")
        yield
        self.line.answer()

    def ask_values(self, *, average: bool = False) -> None:
        """Ask for all values, or their averages."""
        self.line.send(Pull(average=average), asking="for all values")

    def hear_averages(self, arrays: Arrays) -> None:
        """The answer to a pull of averages: ``arrays`` have them then."""
        self.line.answer(self._cut({name: bytes_of(array) for name, array in arrays.items()}))

    def tell_part(self, due: Due, way: object, gradients: Mapping[str, Coded]) -> None:
        """Send a part ahead of the push."""
        views = self._parts(gradients, due)[0]
        part = Part(due.number, due.segments)
        self.line.tell(way, part, views, asking="to take a part of a gradient")

    def ask_push(
        self,
        push: Push,
        gradients: Mapping[str, Coded],
        *,
        forms: bool,
        is_in_room: bool = False,
        told: tuple[Due, object] | None = None,
    ) -> None:
        """Push the shard's part of ``gradients``; ``forms``: and their forms; ``is_in_room``: see Line.
        ``told``: what is lacking where some of it was told ahead, and on which connection."""
        body, forms_told = self._pushed if gradients is self._gradients else self._parts(gradients)
        if 4 * self.layout.size <= SMALL_BYTES:
            self._gradients, self._pushed = gradients, (body, forms_told)
        if push.shrink:
            push = replace(push, shrink=0)  # there are no tables
        short = None
        if told is not None and told[0].number:
            rest, way = told
            short = Short(way, replace(push, parts=rest.number), self._parts(gradients, rest)[0])
        whole = replace(push, forms=tuple(forms_told)) if forms else push
        asking = f"to take the gradient of step {push.step}"
        self.line.send(whole, body, asking=asking, short=short, is_in_room=is_in_room)

    def hear_values(self) -> Answer:
        """The answer to a pull or the end of a pass: the arrays are up to date then."""
        return self.line.answer(self._into)

    def landing(self, on_more: Callable[[], None]) -> Landing:
        """Where the answer to the next push lands; the arrays are up to date as far as it has landed."""
        if self._rounded is None:
            return Landing(self._into, on_more)
        return self._rounded.landing(on_more)

    def hear_pushed(self, landing: Landing) -> Answer:
        """The answer to a push: the arrays are up to date then, in the numbers in which answers travel."""
        answer = self.line.answer(landing=landing)
        if self._rounded is not None:
            self._rounded.widen()
        return answer

    def _cut(self, whole: Mapping[str, memoryview]) -> list[memoryview]:
        return [whole[held.name][4 * start : 4 * stop] for held in self._held for start, stop in held.bounds]

    def _parts(
        self, gradients: Mapping[str, Coded], due: Due | None = None
    ) -> tuple[list[memoryview], list[int]]:
        """The bytes that are for the shard, and their forms; of what is ``due`` only, where that is told."""
        held = self._held if due is None else [self._held[index] for index in due.segments]
        body: list[memoryview] = []
        forms: list[int] = []
        for each in held:
            views, form = gradients[each.name].part(each)
            body += views
            forms.append(form)
        return body, forms
