"""Transpilers: what makes of a program one for a cluster, and names that other transpilers had."""

from __future__ import annotations

from paddle.fluid._listed import lacking
from paddle.fluid.transpiler import details
from paddle.fluid.transpiler.blocks import slice_variable
from paddle.fluid.transpiler.distribute_transpiler import DistributeTranspiler, DistributeTranspilerConfig
from paddle.fluid.transpiler.former import InferenceTranspiler, memory_optimize, release_memory
from paddle.fluid.transpiler.ps_dispatcher import HashName, PSDispatcher, RoundRobin

__all__ = [
    "DistributeTranspiler",
    "DistributeTranspilerConfig",
    "HashName",
    "InferenceTranspiler",
    "PSDispatcher",
    "RoundRobin",
    "details",
    "memory_optimize",
    "release_memory",
    "slice_variable",
]

__getattr__ = lacking(__name__)
