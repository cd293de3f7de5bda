"""Row listing: the rows of an open table, as a shard tells them to a trainer that wants them all.

It must never know who asks. Guarantee: an answer is as long as was asked, and changes nothing.
"""

from __future__ import annotations

import numpy as np

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.messages import Export
from paddle._pserver.protocol.portion import rows_at_once
from paddle._pserver.tables.tables import Tables


def exported(tables: Tables, asked: Export) -> tuple[np.ndarray, ...]:
    """The body of the answer."""
    table = tables.open_table(asked.table)
    width = table.held.width
    if asked.most > (most := rows_at_once(width)):
        raise BadMessage(f"{asked.most} rows of {asked.table!r} at once, of which {most} may be asked for")
    found = table.listed(asked.after, asked.most)
    parts = [found.values, *(found.slots.values() if asked.whole else ())]
    count, ids = len(found.ids), np.zeros(asked.most, np.int64)
    rows = np.zeros((len(parts), asked.most, width), np.float32)
    ids[:count] = found.ids
    for room, part in zip(rows, parts, strict=True):
        room[:count] = part
    return np.array([count], np.int64), ids, rows
