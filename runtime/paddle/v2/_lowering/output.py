"""Output: what a layer gives, as variables of the network's program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paddle._engine.program import Variable

OFFSETS, OUTER = "@offsets", "@outer"
"""What is appended to the name of a data layer to name what says where its sequences begin (see Output)."""

STARTS, AMOUNTS = "@starts", "@amounts"
"""The same for a sparse one, for where its rows begin and what its entries add (see Entries)."""


@dataclass(frozen=True)
class Entries:
    """Sparse rows ``width`` wide: the ``columns`` that they name, one row after another, what each of these
    ``amounts`` to, and where each row ``starts`` among them."""

    columns: Variable
    amounts: Variable
    starts: Variable
    width: int


@dataclass(frozen=True)
class Output:
    """``value`` to compute with, or integer ``id`` (and of max_id the ``prob`` of it). A sparse data layer
    has ``entries``, and a ``value`` as soon as a layer needs its rows spread out.

    ``runs``: none where each sample is a row. One where it is a sequence of rows: the offsets of samples
    among them. Two where it is a sequence of sequences: the offsets of samples among the inner sequences,
    and those of inner sequences among the rows. ``others``: what ``get_output`` gets.
    ``frame``: where a feed decides how large the images are that its rows hold, a variable (rows, channels,
    height, width) that has their sizes.
    ``filled``: where not all ids or rows mean something, the last element of it says how many of the first
    ones do.
    """

    value: Variable | None = None
    id: Variable | None = None
    prob: Variable | None = None
    runs: tuple[Variable, ...] = ()
    entries: Entries | None = None
    frame: Variable | None = None
    filled: Variable | None = None
    others: Mapping[str, Variable] = field(default_factory=dict)
