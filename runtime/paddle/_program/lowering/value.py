"""What a name stands for while a program is lowered, and what came of lowering it. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from paddle._engine.program import Program as EngineProgram
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator

LOD = "@LOD"
"""Appended, with the level's number, to a name to name what says where its sequences begin."""


BARE = frozenset(
    """
    arg_max arg_min crop crop_tensor dot kldiv_loss margin_rank_loss multiplex nce norm rank_loss reverse
    scatter smooth_l1_loss unstack
    """.split()  # noqa: SIM905  read in columns
)
"""Operators whose results are no sequences, as the original's are none, whatever they are made of."""


@dataclass(frozen=True, slots=True)
class Value:
    """An engine variable, and the offsets of its sequences: outer levels first, those of rows last."""

    variable: EngineVariable
    runs: tuple[EngineVariable, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """What an engine program must be fed under ``name``; ``levels``: its offsets are fed too."""

    name: str
    levels: int
    persistable: bool


class Given(NamedTuple):
    """What an operator gave: its type, where it was written, and the name of the variable."""

    type: str
    where: str
    name: str


@dataclass(slots=True)
class Lowered:
    """One engine program. ``fetches``: what names stand for at its end. ``reads``: the parameters it
    computes with, which lie in the scope. ``updates``: optimizer operators that its exchange stands for.
    ``given``: what operators of the program gave, by the engine's variables.
    ``lines``: by the engine variables that an operator writes, or is the first to read, what it is and where
    it was written."""

    program: EngineProgram
    needs: dict[str, Need]
    fetches: dict[str, Value]
    reads: list[str]
    updates: list[Operator] = field(default_factory=list)
    lines: dict[str, str] = field(default_factory=dict)
    given: dict[str, Given] = field(default_factory=dict)


MOST_RANKS = 8


def may_be_sizes(shape: tuple[int, ...]) -> bool:
    """Whether what has this shape may say the shape of another variable: as few numbers as one has axes."""
    return len(shape) == 1 and 0 < shape[0] <= MOST_RANKS
