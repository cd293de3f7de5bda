"""Text of others made fit to show: no byte of it is obeyed by a terminal.

Colours and other sequences are left out; other control characters are written as escapes.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, the cursor, clearing the screen
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # titles, links and other text for the terminal itself
    r"|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def paragraph(text: str) -> str:
    """Give the words of ``text`` as one line."""
    return visible(" ".join(text.split()))


def visible(line: str) -> str:
    """Give ``line`` without anything that a terminal would obey."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], _SEQUENCE.sub("", line))
