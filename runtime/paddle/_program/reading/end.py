"""EOFException: a reader that a program reads has no other batch in this pass.

It must never know the reader. Guarantee: it is what ``except fluid.core.EOFException`` catches, and nothing
else.
"""

from __future__ import annotations


class EOFException(Exception):
    """There is no next batch. Catch it, and ``reset()`` the reader before the next pass."""
