"""Which files of a data folder are whose: the numbers that their names end with, modulo that of the trainers.

Pure; it must never know a disk. Guarantee: of the files with a number every one is exactly one trainer's, and
sent to its node alone; those without a number are everybody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from paddle._launch.workspace import Entry

_NUMBER = re.compile(r"-(\d+)(?:\.[A-Za-z]\w*)*")  # train.txt-00002, part-00002.csv.gz


def owner(name: str, trainers: int) -> int | None:
    """The rank of the trainer whose file this is; None: everybody's."""
    found = _NUMBER.search(name[name.rfind("-") :]) if "-" in name else None
    return int(found[1]) % trainers if found and name.endswith(found[0]) else None


def share(entries: Iterable[Entry], folder: str, node: int, trainers: Sequence[int]) -> tuple[Entry, ...]:
    """What a node is sent: all but the files of others in ``folder``, where one is named. ``trainers``: their
    nodes, by rank."""
    if not folder:
        return tuple(entries)
    rank = trainers.index(node) if node in trainers else None
    return tuple(
        entry
        for entry in entries
        if entry.kind == "folder"
        or not entry.path.startswith(f"{folder}/")
        or owner(entry.path.rpartition("/")[2], len(trainers)) in (None, rank)
    )
