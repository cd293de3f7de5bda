"""A pserver of random faults, as a process: one that is other than it should be.

Started as ``python -m tests.faults.random_faults.pserver CHANGE,... pserver ...``: a defect (defects.py), or
``pieces``: its tables, which are as small as tests have time for, are cut and read as large ones are, a row
at a time; ``turns``: gradients take turns as large ones do. It must never know a schedule.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partialmethod

from paddle.__main__ import main
from paddle._pserver import options
from paddle._pserver.protocol import framing
from paddle._pserver.shard import adding
from paddle._pserver.tables import frozen, frozen_table
from paddle._pserver.tables.tables import Tables
from tests.faults.random_faults.defects import DEFECTS
from tests.faults.random_faults.job import small_portions


def pieces() -> None:
    """Tables of any size are read while training goes on (tables/frozen.py)."""
    Tables.cut = partialmethod(Tables.cut, worth_bytes=0)  # type: ignore[method-assign, assignment]
    frozen.PIECE_BYTES = 16  # a row: so that steps come between many of them
    frozen_table.LISTED_AT_ONCE = 3


def turns() -> None:
    """Small gradients are announced, and added in several portions (shard/adding.py)."""
    options.WORTH_BYTES = 1
    small_portions()
    adding.PORTION_BYTES = framing.PORTION_BYTES


CHANGES: dict[str, Callable[[], None]] = {"pieces": pieces, "turns": turns, **DEFECTS}

if __name__ == "__main__":
    names, *sys.argv[1:] = sys.argv[1:]
    for name in names.split(","):
        CHANGES[name]()
    sys.exit(main())
