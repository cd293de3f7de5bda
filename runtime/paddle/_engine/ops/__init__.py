"""The operators, one family per file: shape rule, forward kernel and gradient kernel side by side.

Each file ends in ``ROWS``. A kernel must never allocate in the step that it returns, where numpy lets it:
it binds its scratch arrays once.
"""

from paddle._engine.ops import (
    activation,
    arrangement,
    biased,
    clipping,
    cost,
    descent,
    elementwise,
    entries,
    exchange,
    image,
    linear,
    lookups,
    loop,
    metric,
    moment,
    noise,
    normalization,
    recurrent,
    reduction,
    sequence,
    table,
)
from paddle._engine.registry import Row

ROWS: tuple[Row, ...] = (
    *linear.ROWS,
    *biased.ROWS,
    *image.ROWS,
    *normalization.ROWS,
    *elementwise.ROWS,
    *activation.ROWS,
    *reduction.ROWS,
    *arrangement.ROWS,
    *clipping.ROWS,
    *table.ROWS,
    *entries.ROWS,
    *lookups.ROWS,
    *cost.ROWS,
    *noise.ROWS,
    *metric.ROWS,
    *sequence.ROWS,
    *recurrent.ROWS,
    *descent.ROWS,
    *moment.ROWS,
    *loop.ROWS,
    *exchange.ROWS,
)
