"""Soundness: whether what the snapshots of a job hold is what they declare to hold.

A checksum tells that a file is as it was written, and not who wrote it: a snapshot may come from anybody. It
must never know a file. Guarantee: of what passes, every parameter has as many values as it is declared to
have, so nothing that is made of it is larger than the snapshots are; and what does not fit after all is an
error that names the snapshots, and no other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import NoValidCheckpoint, PserverError
from paddle._pserver.shard import declaration
from paddle._pserver.snapshots.gathering import Gathered

_NOT_OURS = "They were changed, or made by somebody else: take others"
_LONGEST = 300


@contextlib.contextmanager
def sound(gathered: Gathered) -> Iterator[None]:
    """Work on what is sound. Raises NoValidCheckpoint."""
    try:
        _check(gathered)
        yield
    except PserverError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"[:_LONGEST]
        raise NoValidCheckpoint(
            f"what these snapshots hold is not what they declare ({said}). {_NOT_OURS}"
        ) from error


def _check(gathered: Gathered) -> None:
    for state in gathered.shards:
        try:
            declaration.check(state.facts.declaration)
        except PserverError as error:
            raise NoValidCheckpoint(
                f"these snapshots declare what cannot be: {error}. {_NOT_OURS}"
            ) from error
    for parameter in gathered.declaration.parameters:
        shards = gathered.sparse if parameter.sparse else gathered.dense
        found = [shard.arrays[key] for shard in shards if (key := f"values/{parameter.name}") in shard.arrays]
        if any(array.dtype != np.float32 for array in found) or not _has_all(parameter, found):
            raise NoValidCheckpoint(
                f"these snapshots declare {parameter.name!r} of shape {parameter.shape}, and hold "
                f"{', '.join(str(array.shape) for array in found) or 'nothing'} of it. {_NOT_OURS}"
            )


def _has_all(parameter: ParameterSpec, found: Sequence[np.ndarray]) -> bool:
    """Whether the values of all shards together are those of a parameter."""
    if not parameter.sparse:
        return sum(array.size for array in found) == parameter.size
    is_of_width = all(array.ndim == 2 and array.shape[1] == parameter.shape[1] for array in found)
    return is_of_width and (parameter.is_open or sum(map(len, found)) == parameter.shape[0])
