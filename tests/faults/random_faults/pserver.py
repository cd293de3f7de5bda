"""A pserver of random faults, as a process: one that is other than it should be.

Started as ``python -m tests.faults.random_faults.pserver CHANGE,... pserver ...``: a defect (defects.py), or
``pieces``: its tables, which are as small as tests have time for, are cut and read as large ones are, a row
at a time. It must never know a schedule.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partialmethod

from paddle.__main__ import main
from paddle._pserver.tables import frozen, frozen_table
from paddle._pserver.tables.tables import Tables
from tests.faults.random_faults.defects import DEFECTS


def pieces() -> None:
    """Tables of any size are read while training goes on (tables/frozen.py)."""
    Tables.cut = partialmethod(Tables.cut, worth_bytes=0)  # type: ignore[method-assign, assignment]
    frozen.PIECE_BYTES = 16  # a row: so that steps come between many of them
    frozen_table.LISTED_AT_ONCE = 3


CHANGES: dict[str, Callable[[], None]] = {"pieces": pieces, **DEFECTS}

if __name__ == "__main__":
    names, *sys.argv[1:] = sys.argv[1:]
    for name in names.split(","):
        CHANGES[name]()
    sys.exit(main())
