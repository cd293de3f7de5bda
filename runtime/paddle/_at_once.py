"""Operators that compute at once: what ``paddle._C_ops`` and ``paddle._legacy_C_ops`` are.

Libraries import them for their eager half, and use the other one in programs. Guarantee: an operator says by
its name that it is not here, when it is used.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._absent import AbsentName


def __getattr__(name: str) -> NoReturn:
    raise AbsentName(
        f"paddle._C_ops.{name} is not in this release: it computes at once (dygraph), and programs are "
        "static here: paddle.enable_static()"
    )
