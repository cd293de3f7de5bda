"""What an executor does about ``read`` operators: before it runs a program it takes a batch of each reader,
as if the caller had fed it, and afterwards tells the readers.

It must never know what a reader reads. Guarantee: a run that raises has ended its turn, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddle._program.errors import BadFeed
from paddle._program.reading.reader import Reader, named

if TYPE_CHECKING:
    from paddle._program.description.program import Program
    from paddle._program.running.scope import Scope

READ = "read"


@dataclass(frozen=True, slots=True)
class Read:
    """What an operator reads: of the ``reader`` of that name, into these variables."""

    reader: str
    into: tuple[str, ...]


def reads_of(program: Program) -> tuple[Read, ...]:
    """What the operators of a program read."""
    ops = (op for op in program.global_block().ops if op.type == READ)
    return tuple(Read(op.input("Reader")[0], tuple(op.output("Out"))) for op in ops)


@contextmanager
def turn(reads: tuple[Read, ...], values: dict[str, Any]) -> Iterator[None]:
    """One run, fed by these operators; what the caller feeds of their variables is left as it is."""
    taken = []
    try:
        for read in reads:
            if not all(name in values for name in read.into):
                reader = _held(read.reader)
                feed = reader.next()
                taken.append(reader)
                values.update(zip(read.into, feed.values(), strict=True))
        yield
    finally:
        for reader in taken:
            reader.computed()


def count_unread(program: Program, scope: Scope) -> None:
    """Count a run that found no batch, by what counts steps before anything is read: a schedule's counter,
    which the original's executor has moved when its reader says that a pass is over."""
    for op in program.global_block().ops:
        if op.type == READ:
            return
        held = scope.find_var(op.output("Out")[0]) if op.type == "increment" else None
        if held is not None and held.is_initialized():
            array = held.get_tensor().array()
            array += array.dtype.type(op.attr("step"))


def _held(name: str) -> Reader:
    found = named(name)
    if found is None:
        raise BadFeed(f"the program reads of {name}, and no reader of that name was made in this process")
    return found
