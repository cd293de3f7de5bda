"""A conversation with a program on a node, a module of the agent: it is told orders, and answers.

All that is asked of nodes is asked so: by a launch, by `fab check`, `install`, `clean` and `collect`. It must
never know what is asked, nor by what the words travel. Guarantee, by five rules:

1. A node's shell sees one constant command, and the program is this launcher's own text (parcel.py).
2. What cannot run there is NodeUnfit, with what was said of it, also where it ended before it had heard all.
3. What it says is bounded and comes in time (reader.py), and is of the kind that was asked for (said.py).
4. It is let go of in the end, however that comes; then it ends.
5. Whoever else closes it ends it as a connection does that breaks.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from paddle._launch.errors import NodeError, NodeLost, NodeUnfit
from paddle._launch.machines import parcel, refusals
from paddle._launch.machines.reader import ANSWER_S, MOST, Reader
from paddle._launch.machines.said import Said, understood

Value = TypeVar("Value")


class Wire(Protocol):
    """What carries it: a program's standard input and output; see transport.Stream."""

    def send(self, data: bytes | memoryview) -> None: ...

    def offer(self, data: bytes) -> None: ...

    def receive(self, most: int) -> bytes: ...

    def status(self) -> int: ...

    def complaint(self) -> str: ...

    def close(self) -> None: ...


WireT = TypeVar("WireT", bound=Wire, covariant=True)


class Reached(Protocol[WireT]):
    """A node that is reached; see transport.Line."""

    def begin(self, command: str, *, errors_too: bool = False) -> WireT: ...

    def close(self) -> None: ...


class Conversation:
    """One. ``pythons``: of which the first that is there runs the program; ``name_it``: how the user says
    which one is meant; ``most``: see reader.py."""

    def __init__(
        self,
        wire: Wire,
        pythons: Sequence[str],
        *,
        name_it: str = refusals.NAME_IT,
        most: int = MOST,
    ) -> None:
        self.wire = wire
        self._pythons = tuple(pythons)
        self._name_it = name_it
        self._reader = Reader(wire.receive, most=most)

    def tell(self, order: Mapping[str, Any]) -> None:
        """Give an order."""
        self.wire.offer(json.dumps(order).encode() + b"\n")

    def ask(self, order: Mapping[str, Any], kind: type[Said], within_s: float = ANSWER_S) -> Said:
        """Give an order that has one answer, and wait for that."""
        self.tell(order)
        for answer in self.answers(kind, within_s):
            return answer
        raise self._no_program(0)

    def do(self, order: Mapping[str, Any]) -> None:
        """Give an order that has no answer, and wait until it is done."""
        self.tell(order)
        for _ in self.answers(object):
            pass

    def answers(self, kind: type[Said], within_s: float = ANSWER_S) -> Iterator[Said]:
        """All that is said, each within that time, until the program has ended well."""
        while (answer := self._reader.answer(within_s)) is not None:
            yield understood(answer, kind)
        match self.wire.status():
            case 0:
                return
            case status if status > 0:
                raise self._no_program(status)
        raise NodeLost("what ran there was killed, or its connection broke. Start again.")

    def close(self) -> None:
        """Let go; from any thread."""
        self.wire.close()

    def _no_program(self, status: int) -> NodeUnfit:
        return refusals.no_program(status, self.wire.complaint(), self._pythons, self._name_it)


def begin(node: Reached[WireT], pythons: Sequence[str], entry: str, *, errors_too: bool = False) -> WireT:
    """Begin a program, ``agent.probe``, say; it has not been told anything yet."""
    wire = node.begin(parcel.COMMAND, errors_too=errors_too)
    try:
        wire.offer(parcel.call(pythons, entry))
    except BaseException:
        wire.close()
        raise
    return wire


@contextlib.contextmanager
def converse(
    node: Reached[Wire],
    pythons: Sequence[str],
    entry: str,
    *,
    name_it: str = refusals.NAME_IT,
    most: int = MOST,
) -> Iterator[Conversation]:
    """Speak with a program, and let go of it."""
    talk = Conversation(begin(node, pythons, entry), pythons, name_it=name_it, most=most)
    try:
        yield talk
    finally:
        talk.close()


def first_fit(pythons: Sequence[str], speak: Callable[[str], Value]) -> Value:
    """Speak with the first Python that is there and new enough; where none is, says why not of the first."""
    failed: list[NodeError] = []
    for python in pythons:
        try:
            return speak(python)
        except NodeUnfit as error:
            failed.append(error)
    raise failed[0]
