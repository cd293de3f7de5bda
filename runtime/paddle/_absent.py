"""Names that the documents know and this release does not have.

It must never know such a name itself: every face keeps its own list. Guarantee: using one raises at once, by
that name and with what it is waiting for; nothing is silently skipped. Whether it is imported or looked up
makes no difference: what a face says of its attributes is what an import of them says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from paddle._complaint import Complaint


class NotInThisRelease(Complaint, NotImplementedError):
    """A documented name or option that this release does not have."""


class AbsentName(NotInThisRelease, AttributeError):
    """What a face raises for a name that it lacks, so that ``hasattr`` says no."""


def absent(name: str, needs: str) -> Callable[..., Any]:
    """A stand-in for the callable ``name`` that raises when called; ``needs`` says what is missing for it."""

    def stand_in(*args: object, **kwargs: object) -> NoReturn:
        raise NotInThisRelease(f"{name} is not in this release: {needs}")

    stand_in.__name__ = stand_in.__qualname__ = name.rpartition(".")[2]
    stand_in.__doc__ = f"Not in this release: {needs}."
    return stand_in


def explain_imports() -> None:
    """From now on an import of a module that is not there says what its package says of the name."""
    if not any(isinstance(finder, _Explainer) for finder in sys.meta_path):
        sys.meta_path.append(_Explainer())


class _Explainer:
    """Is asked for a module when nobody else has found it, and finds none."""

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> None:
        package, _, leaf = name.rpartition(".")
        if package.partition(".")[0] == "paddle" and package in sys.modules:
            try:
                getattr(sys.modules[package], leaf)
            except NotInThisRelease as error:
                raise ImportError(str(error), name=name) from None
            except AttributeError:
                pass  # nobody knows it
