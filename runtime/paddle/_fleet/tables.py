"""Tables on disk, as servers of the original save and load them: of each a folder, of each server a file.

It must never know who trains. Guarantee: a table is read whole, by however many servers it was written; rows
that a file lacks keep the values that they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle._engine.checkpoint import sparse_text
from paddle._fleet.errors import FleetError

Tables = Mapping[str, tuple[np.ndarray, np.ndarray]]
_ENDING = sparse_text.FOLDER.format(name="")
_PIECE = 1 << 14


def read(dirname: str, names: Any = None) -> Tables:
    """All tables of a folder, or those of ``names``: ids and rows of each."""
    folder = Path(dirname)
    if not folder.is_dir():
        raise FleetError(
            f"fleet.init_server({dirname!r}): there is no such folder here. Give one that "
            "fleet.save_persistables wrote, on this machine."
        )
    found = {
        path.name.removesuffix(_ENDING): path for path in sorted(folder.glob(f"*{_ENDING}")) if path.is_dir()
    }
    wanted = found if names is None else [getattr(name, "name", name) for name in _listed(names)]
    for name in wanted:
        if name not in found:
            raise FleetError(
                f"fleet.init_server({dirname!r}): there is no table {name!r} in it; there are "
                f"{', '.join(found) or 'none'}."
            )
    return {name: sparse_text.read(found[name]) for name in wanted}


def write(dirname: str, name: str, rows: np.ndarray, servers: int) -> None:
    """Write a table of which row i has id i."""
    ids = np.arange(len(rows), dtype=np.int64)
    pieces = ((ids[at : at + _PIECE], rows[at : at + _PIECE]) for at in range(0, len(rows), _PIECE))
    Path(dirname).mkdir(parents=True, exist_ok=True)
    sparse_text.write(Path(dirname), name, rows.shape[1], servers, pieces)


def _listed(names: Any) -> Sequence[Any]:
    return list(names) if isinstance(names, list | tuple | set | frozenset) else [names]
