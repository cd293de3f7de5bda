"""Files that a program has opened as text and that hold bytes, as Python 2 made no difference of the two.

It must never know what is written. Guarantee: what was written to the text before stands before the bytes.
"""

from __future__ import annotations

import io
from typing import Any

from paddle.v2._errors import WrongCall


def binary(f: Any, what: str) -> Any:
    """The binary file under ``f``. ``what``: what it keeps, for an error."""
    if not isinstance(f, io.TextIOBase):
        return f
    buffer = getattr(f, "buffer", None)
    if buffer is None:
        raise WrongCall(f"{what} are kept in a binary file, not in {type(f).__name__}: use io.BytesIO")
    f.flush()
    return buffer
