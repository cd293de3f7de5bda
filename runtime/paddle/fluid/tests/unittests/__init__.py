"""Upstream's unit tests, of which there is what programs use."""

from typing import Any

from paddle import _absent


def __getattr__(name: str) -> Any:
    raise _absent.AbsentName(
        f"paddle.fluid.tests.unittests.{name} is not in this release: it is a test of the original's, and "
        "no part of what programs are written with."
    )
