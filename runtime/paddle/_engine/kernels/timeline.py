"""A timeline: the rows of sequences, one moment after another instead of one sequence after another.

The longest sequence comes first, so that those which are not over yet at a moment are its first ones, and all
that is computed at a moment is computed on one piece of memory. It must never know what is computed.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel


@kernel
def lay_out(
    offsets: np.ndarray,
    is_reverse: bool,
    order: np.ndarray,
    rows: np.ndarray,
    before: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Fill int64 ``rows``: which row stands at each place of the timeline; returns the number of moments.

    ``offsets``: see runs.py. ``order``: int64 (n,), the sequences, the longest first. ``is_reverse``: time
    runs from the end of each sequence. As long as ``rows`` are ``before``, int64, the place of the same
    sequence one moment earlier, -1 at the first; and ``counts``, int64, how many sequences are not over at
    each moment.
    """
    moments, place, previous = 0, 0, 0
    active = order.shape[0]
    while True:
        while active > 0:
            last = order[active - 1]
            if offsets[last + 1] - offsets[last] > moments:
                break
            active -= 1
        if active == 0:
            return moments
        for k in range(active):
            i = order[k]
            rows[place + k] = offsets[i + 1] - 1 - moments if is_reverse else offsets[i] + moments
            before[place + k] = previous + k if moments > 0 else -1
        counts[moments] = active
        previous, place, moments = place, place + active, moments + 1
