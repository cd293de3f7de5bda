"""By what programs of a job with parameter servers are made."""

from paddle.fluid.incubate.fleet.base.mode import Mode

__all__ = ["BUILD_MODE", "is_transpiler"]

BUILD_MODE = Mode.TRANSPILER


def is_transpiler() -> bool:
    """By the transpiler, in every build of this release."""
    return BUILD_MODE == Mode.TRANSPILER
