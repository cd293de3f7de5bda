"""The scope: the values that outlive a step, by name. Parameters live here; of open tables, rows that
somebody has exported, for tests without an exchange.

It must never know a program. Guarantee: the array behind a name stays the same object until ``bind``
replaces it, so plans compute with it directly; ``generation`` counts these replacements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.rows import SparseRows


class Scope:
    """A mapping of names to arrays. All arrays are C-contiguous."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._rows: dict[str, SparseRows] = {}
        self.generation = 0

    def names(self) -> list[str]:
        """All names, in order of arrival."""
        return list(self._arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def get(self, name: str) -> np.ndarray:
        """The live array itself: writing into it changes what the next step computes with."""
        try:
            return self._arrays[name]
        except KeyError:
            raise FeedError(
                f"the scope holds no {name!r}: run initialize(program, scope, seed) or load it first "
                f"(it holds {sorted(self._arrays)})"
            ) from None

    def set(self, name: str, value: np.ndarray) -> None:
        """Copy ``value`` in. A name that is there keeps its array, whose shape the value must have."""
        if name not in self._arrays:
            self.bind({name: np.array(value, order="C")})
            return
        array = self._arrays[name]
        if array.shape != np.shape(value):
            raise ShapeError(
                f"{name!r} has shape {array.shape}, a value of shape {np.shape(value)} does not fit"
            )
        np.copyto(array, value, casting="same_kind")

    def bind(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Adopt these very arrays, so that who else holds them (an exchange) sees and makes every change."""
        for name, array in arrays.items():
            if not array.flags.c_contiguous:
                raise ShapeError(f"the array given for {name!r} is not C-contiguous")
            self._arrays[name] = array
        self.generation += 1

    def keep(self, name: str, rows: SparseRows) -> None:
        """Rows of an open table, by ascending id, which ``lookup`` finds from now on."""
        self._rows[name] = rows

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Exchange; no row is ever made here."""
        return {name: self._found(name, wanted) for name, wanted in ids.items()}

    def _found(self, name: str, ids: np.ndarray) -> np.ndarray:
        if name not in self._rows:
            raise FeedError(
                f"the scope holds no rows of the open table {name!r}: keep(name, rows) what an exchange has "
                f"exported (it holds rows of {sorted(self._rows)})"
            )
        kept = self._rows[name]
        out = np.zeros((len(ids), kept.width), np.float32)
        places = np.searchsorted(kept.ids, ids)
        there = np.flatnonzero(places < len(kept.ids))
        there = there[kept.ids[places[there]] == ids[there]]
        out[there] = kept.values[places[there]]
        return out

    def items(self) -> Iterable[tuple[str, np.ndarray]]:
        """Names and live arrays."""
        return self._arrays.items()
