"""Names that the documents know and this release does not have.

It must never know such a name itself: every face keeps its own list. Guarantee: using one raises at once, by
that name and with what it is waiting for; nothing is silently skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from paddle._complaint import Complaint


class NotInThisRelease(Complaint, NotImplementedError):
    """A documented name or option that this release does not have."""


def absent(name: str, needs: str) -> Callable[..., Any]:
    """A stand-in for the callable ``name`` that raises when called; ``needs`` says what is missing for it."""

    def stand_in(*args: object, **kwargs: object) -> NoReturn:
        raise NotInThisRelease(f"{name} is not in this release: {needs}")

    stand_in.__name__ = stand_in.__qualname__ = name.rpartition(".")[2]
    stand_in.__doc__ = f"Not in this release: {needs}."
    return stand_in
