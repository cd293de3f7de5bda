"""Transpilers that the plan makes needless, under the name of their module."""

from paddle.fluid.transpiler.former import InferenceTranspiler

__all__ = ["InferenceTranspiler"]
