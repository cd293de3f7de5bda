"""What a run says about where it ran: the machine, and in a contender its libraries and BLAS kernel."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

_GENERATIONS = {("AuthenticAMD", "26"): "Zen 5"}
"""By vendor and family. A model's name may say no more than AMD EPYC."""
_BUSY = 2.0
"""More than so many processes that want to run for each core are others'."""
_LIBRARIES = ("numpy", "numba", "aiohttp", "torch", "paddle")


def machine_facts() -> dict[str, object]:
    """Processor and its kind, cores this process may use, load before the run, system and Python."""
    return {
        "cpu": _cpu_model(),
        "generation": generation(),
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


def generation() -> str:
    """The kind of processor, where goals may have been measured on it; else empty."""
    told = _told()
    return _GENERATIONS.get((told.get("vendor_id", ""), told.get("cpu family", "")), "")


def held_to(facts: Mapping[str, object]) -> str:
    """To what was measured on which kind of processor a run on this machine is held; empty: to none, as where
    others keep the machine busy."""
    load, cores = facts["load"], facts["cores"]
    assert isinstance(load, float) and isinstance(cores, int)
    return str(facts["generation"]) if load <= _BUSY * cores else ""


def _cpu_model() -> str:
    told = _told()
    return told.get("model name") or told.get("Model") or platform.processor() or "unknown processor"


def _told() -> dict[str, str]:
    """What the kernel tells of the first processor, by name."""
    told = dict[str, str]()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        told.setdefault(name.strip(), value.strip())
    return told
