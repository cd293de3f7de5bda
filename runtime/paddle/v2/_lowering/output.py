"""Output: what a layer gives, as variables of the network's program."""

from __future__ import annotations

from dataclasses import dataclass

from paddle._engine.program import Variable


@dataclass(frozen=True)
class Output:
    """``value`` to compute with, or integer ``id`` (and of max_id the ``prob`` of it).

    ``runs``: none where each sample is a row. One where it is a sequence of rows: the offsets of samples
    among them. Two where it is a sequence of sequences: the offsets of samples among the inner sequences,
    and those of inner sequences among the rows.
    """

    value: Variable | None = None
    id: Variable | None = None
    prob: Variable | None = None
    runs: tuple[Variable, ...] = ()
