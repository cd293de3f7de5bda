"""What others print is shown, and obeyed by no terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._visible import visible


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain äöü 词\tand tab", "plain äöü 词\tand tab"),
        ("\x1b[2J\x1b[H\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text\x1b]8;;http://x\x1b\\link", "textlink"),
        ("\x1b]0;never closed", ""),
        ("\x1bc\x1b(Breset", "reset"),
        ("bell\x07 back\x08 \x9b2J", "bell\\x07 back\\x08 \\x9b2J"),
        ("turned\u202eround", "turned\\u202eround"),
    ],
)
def test_sequences_are_left_out_and_controls_are_written(line: str, shown: str) -> None:
    assert visible(line) == shown


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(line: str) -> None:
    assert all(
        letter == "\t" or (letter >= " " and not "\x7f" <= letter <= "\x9f") for letter in visible(line)
    )
