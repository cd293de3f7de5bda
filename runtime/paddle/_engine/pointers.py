"""Pointers: integers in variables that say where to read, checked before anything is read there.

It must never know where the integers come from. Guarantee: after the checks of an operator no index of it
points outside its table, and offsets divide the rows that they are said to divide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from paddle._engine import registry
from paddle._engine.errors import FeedError
from paddle._engine.program import Form, Operator
from paddle._engine.registry import Step, Value


def checks(
    operator: Operator, values: Mapping[str, Value], forms: Mapping[str, Form]
) -> Iterator[tuple[str, str, Step]]:
    """The checks of a forward operator, each with the variable that points and the one it points into."""
    row = registry.row(operator.type)
    for index in row.indexes:
        (into,) = operator.inputs[index.into]
        for name in operator.inputs[index.ids]:
            ids = values[name]
            if isinstance(ids, np.ndarray) and ids.size:
                height, passed = forms[into].shape[index.axis], operator.attrs.get(index.passed)
                yield name, into, partial(_check_ids, ids, height, operator, name, into, passed)
    for runs in row.runs:
        (name,), (of,) = operator.inputs[runs.offsets], operator.inputs[runs.of]
        offsets = values[name]
        if isinstance(offsets, np.ndarray):
            yield name, of, partial(_check_offsets, offsets, forms[of].shape[0], operator, name, of)


def _check_ids(
    ids: np.ndarray, height: int, operator: Operator, name: str, into: str, passed: int | None
) -> None:
    # seen as unsigned, a negative id is greater than any height: one pass finds both kinds of wrong id
    if ids.view(np.uint64).max() < height:
        return
    wrong = ids[(ids < 0) | (ids >= height)]
    if passed is not None:
        wrong = wrong[wrong != passed]
    if not wrong.size:
        return
    raise FeedError(
        f"operator {operator.type!r}: {name!r} holds {wrong.flat[0]}, but {into!r} takes 0 to "
        f"{height - 1} only; check the dictionary that made these ids"
    )


def _check_offsets(offsets: np.ndarray, rows: int, operator: Operator, name: str, of: str) -> None:
    if offsets[0] == 0 and offsets[-1] == rows and (offsets[1:] >= offsets[:-1]).all():
        return
    raise FeedError(
        f"operator {operator.type!r}: {name!r} does not divide the {rows} rows of {of!r} into sequences: "
        f"offsets begin with 0, never fall and end with {rows}, these go from {offsets[0]} to {offsets[-1]}"
    )
