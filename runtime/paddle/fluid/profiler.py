"""Fluid's profiler: the functions of ``paddle.profiler`` that have its names.

It must never count itself. Guarantee: as ``paddle.profiler`` says; a profiler of a device that is not here is
a name without a device, and refused.
"""

from __future__ import annotations

from paddle._absent import absent
from paddle.profiler import profiler, reset_profiler, start_profiler, stop_profiler

__all__ = ["cuda_profiler", "npu_profiler", "profiler", "reset_profiler", "start_profiler", "stop_profiler"]

cuda_profiler = absent("fluid.profiler.cuda_profiler", "it computes on the CPU; profiler('CPU') counts")
npu_profiler = absent("fluid.profiler.npu_profiler", "it computes on the CPU; profiler('CPU') counts")
