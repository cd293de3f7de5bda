"""Values that a trainer reads where its shard keeps them: those of the step that it was told of or none."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from paddle._pserver.errors import BadMessage
from paddle._pserver.memory.shown import Seen, Shown, find, room_for

SIZE = 8


def both(*, is_still: bool) -> tuple[Shown, Seen]:
    shown = room_for(SIZE)
    assert shown is not None and shown.lies is not None
    seen = find(os.getpid(), shown.lies, is_still=is_still)
    assert seen is not None
    shown.values[:] = np.arange(SIZE)
    shown.begin(3)
    return shown, seen


class Halves(list[memoryview]):
    """Where values are read to; once the first half is there, the shard goes on."""

    def __init__(self, into: np.ndarray, shown: Shown) -> None:
        flat = into.data.cast("B")
        super().__init__([flat[: len(flat) // 2], flat[len(flat) // 2 :]])
        self.is_counted, self.shown = False, shown

    def __iter__(self) -> Iterator[memoryview]:
        yield self[0]
        if self.is_counted:
            self.shown.begin(4)
            self.shown.values[:] = -1
        self.is_counted = True  # how much room there is, which is asked first
        yield self[1]


@pytest.mark.parametrize("is_still", [True, False])
def test_values_that_went_on_while_they_were_read_are_found_out_where_they_should_not(is_still: bool) -> None:
    shown, seen = both(is_still=is_still)
    into = np.empty(SIZE, np.float32)
    assert seen.read([into.data.cast("B")], 3)
    assert into.tolist() == list(range(SIZE))
    assert seen.read(Halves(into, shown), 3) is not is_still
    assert into.tolist() == [0, 1, 2, 3, -1, -1, -1, -1]


def test_room_for_more_or_less_than_there_is_is_an_error() -> None:
    _, seen = both(is_still=True)
    with pytest.raises(BadMessage, match="the shard shows 32 bytes of values, expected were 28"):
        seen.read([np.empty(SIZE - 1, np.float32).data.cast("B")], 3)
