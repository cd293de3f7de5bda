"""Readers: callables without arguments that return an iterator over samples, and what makes one of another.

They must never know a layer or a trainer. Guarantee: calling a reader again starts it again.
"""

from paddle.reader import creator, decorator
from paddle.reader.decorator import (
    ComposeNotAligned,
    PipeReader,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    multiprocess_reader,
    pipe_reader,
    shuffle,
    xmap_readers,
)

__all__ = [
    "ComposeNotAligned",
    "PipeReader",
    "buffered",
    "cache",
    "chain",
    "compose",
    "creator",
    "decorator",
    "firstn",
    "map_readers",
    "multiprocess_reader",
    "pipe_reader",
    "shuffle",
    "xmap_readers",
]
