"""Transpilers that the plan makes needless, under the name of their module."""

from paddle.fluid.transpiler.former import memory_optimize, release_memory

__all__ = ["memory_optimize", "release_memory"]
