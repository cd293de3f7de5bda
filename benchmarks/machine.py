"""What a run says about where it ran: the machine, and in a contender its libraries and BLAS kernel."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

_LIBRARIES = ("numpy", "numba", "aiohttp", "torch", "paddle")


def machine_facts() -> dict[str, object]:
    """Processor, cores this process may use, load before the run, system and Python."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def library_facts() -> dict[str, str]:
    """Of the calling process: versions of the libraries it has imported, and numpy's BLAS kernel."""
    facts = {name: str(sys.modules[name].__version__) for name in _LIBRARIES if name in sys.modules}
    if "numpy" in facts:
        facts["blas"] = blas_kernel()
    return facts


def blas_kernel() -> str:
    """The kernel that the loaded OpenBLAS chose for the processor: ``OpenBLAS SkylakeX, 1 thread``."""
    try:
        from paddle import _blas
    except ImportError:  # PaddlePaddle itself, in a Python of its own
        return "kernel unknown"
    return str(_blas.loaded() or "not OpenBLAS: kernel unknown")


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model"):
            return value.strip()
    return platform.processor() or "unknown processor"
