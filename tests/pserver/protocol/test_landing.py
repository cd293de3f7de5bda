"""Where answers land: what has landed stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._pserver.protocol.landing import Landing


def write(landing: Landing, value: int, upto: int) -> None:
    """An answer comes, all ``value``, as far as ``upto``."""
    for view in landing.views():
        size = min(upto, view.nbytes)
        view[:size] = bytes([value]) * size
        upto -= size


@given(st.lists(st.integers(0, 9), max_size=5), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40))))
def test_what_has_landed_is_not_written_again(sizes: list[int], answers: list[tuple[int, int]]) -> None:
    """Each answer brings so many bytes, of which so many are checked before its connection breaks."""
    room = [bytearray(size) for size in sizes]
    landing, expected = Landing([memoryview(part) for part in room]), b""
    for number, (came, right) in enumerate(answers, 1):
        came = min(came, sum(sizes))
        right = min(right, came)
        write(landing, number, came)
        landing.told(right)
        expected += bytes([number]) * (right - len(expected))
        assert b"".join(room)[: len(expected)] == expected
        assert landing.bytes_landed == len(expected)
    write(landing, 77, sum(sizes))
    assert b"".join(room) == expected + bytes([77]) * (sum(sizes) - len(expected))


@pytest.mark.parametrize("checked", [[3, 3, 2], [0, 0, 3]])
def test_it_is_told_once_that_more_has_landed(checked: list[int]) -> None:
    told: list[int] = []
    landing = Landing([memoryview(bytearray(4))], lambda: told.append(landing.bytes_landed))
    for count in checked:
        landing.told(count)
    assert told == [3]
