"""Numbers that a program gives as options: checked where they are given, by name.

They must never know what an option does. Guarantee: what passes is a number, and not NaN.
"""

from __future__ import annotations

import numbers

from paddle.v2._errors import WrongCall


def check_number(name: str, value: object) -> None:
    """Raise where an option that was given is no number."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise WrongCall(f"{name} is a number, not {value!r}")
    if value != value:
        raise WrongCall(f"{name} is NaN, which is not a number")


def check_share(name: str, value: float | None) -> None:
    """Raise where an option that was given is not a number from 0 to 1."""
    check_number(name, value)
    if value is not None and not 0 <= value <= 1:
        raise WrongCall(f"{name} is from 0 to 1, not {value!r}")


def check_bound(name: str, value: float | None) -> None:
    """Raise where an option that was given is below 0."""
    check_number(name, value)
    if value is not None and value < 0:
        raise WrongCall(f"{name} is 0 or more, not {value!r}")
