"""What an executor does about ``read`` operators: before it runs a program it takes a batch of each reader,
as if the caller had fed it, and afterwards tells the readers.

It must never know what a reader reads. Guarantee: a run that raises has ended its turn, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paddle._program.errors import BadFeed
from paddle._program.reading.reader import Reader, named

if TYPE_CHECKING:
    from paddle._program.operator import Operator
    from paddle._program.program import Program

READ = "read"


def readers_of(program: Program) -> tuple[Operator, ...]:
    """The operators of a program that read."""
    return tuple(op for op in program.global_block().ops if op.type == READ)


@contextmanager
def turn(reads: tuple[Operator, ...], values: dict[str, Any]) -> Iterator[None]:
    """One run, fed by these operators; what the caller feeds of their variables is left as it is."""
    taken = []
    try:
        for op in reads:
            if not all(name in values for name in op.output("Out")):
                reader = _held(op)
                feed = reader.next()
                taken.append(reader)
                values.update(zip(op.output("Out"), feed.values(), strict=True))
        yield
    finally:
        for reader in taken:
            reader.computed()


def _held(op: Operator) -> Reader:
    found = named(name := op.input("Reader")[0])
    if found is None:
        raise BadFeed(f"the program reads of {name}, and no reader of that name was made in this process")
    return found
