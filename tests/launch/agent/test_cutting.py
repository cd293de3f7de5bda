"""Lines are cut as people read them, whatever comes, and memory is bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.agent.lines import Lines

CUT = " ... (a long line, cut here)"


def cut(*pieces: bytes, longest: int = 10) -> list[str]:
    lines = Lines(longest)
    return [line for piece in pieces for line in lines.feed(piece)] + lines.finish()


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"one\ntwo\n", b"thr", b"ee"), ["one", "two", "three"]),
        ((b"windows\r\n",), ["windows"]),
        ((b"10%\r50%\r100%\n",), ["100%"]),
        ((b"10%\r50%\r\n",), ["50%"]),
        ((b"one\xfftwo\n",), ["one\ufffdtwo"]),
        ((b"\n\n",), ["", ""]),
        ((b"0123456789\n", b"0123456789a\nnext\n"), ["0123456789", "0123456789" + CUT, "next"]),
    ],
)
def test_a_line_is_what_a_terminal_would_show_in_the_end(pieces: tuple[bytes, ...], lines: list[str]) -> None:
    assert cut(*pieces) == lines


def test_a_line_that_goes_on_and_on_is_given_once() -> None:
    assert cut(*[b"x" * 100] * 50, b"end\nnext", b"\n") == ["x" * 10 + CUT, "next"]
    assert cut(*[b"x" * 100] * 50) == ["x" * 10 + CUT]


def test_a_bar_that_goes_on_and_on_is_given_now_and_then_as_it_stands() -> None:
    given = cut(*(b"%3d%%\r" % n for n in range(100)))
    assert 10 < len(given) < 60
    assert given[-1] == " 99%"
    assert all(line.endswith("%") and len(line) == 4 for line in given)


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_memory_is_bounded_and_how_bytes_come_does_not_matter_where_lines_are_short(
    pieces: list[bytes],
) -> None:
    lines = Lines(10)
    for piece in pieces:
        assert all(len(line) <= 10 + len(CUT) for line in lines.feed(piece))
        assert len(lines._rest) <= 10
    whole = b"".join(pieces)
    if all(len(line) <= 10 for line in whole.split(b"\n")):
        assert cut(*pieces) == cut(whole)
