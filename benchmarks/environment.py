"""The environment that every contender starts in: thread counts stated, pins on linear algebra dropped.

Nor do contenders compile Python's sources each time, where the caller's processes do: what was installed as a
wheel comes compiled, and a checkout keeps it after the first start.

It must be complete before numpy is imported, one reason why contenders are processes of their own. A pin such
as OPENBLAS_CORETYPE can halve the speed of a machine; without it the library chooses the kernel made for the
processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_PINS = ("OPENBLAS_", "GOTO_", "OMP_", "MKL_")


def pins(environ: Mapping[str, str]) -> dict[str, str]:
    """Settings of linear algebra libraries in the caller's environment, none of which contenders inherit."""
    return {name: value for name, value in sorted(environ.items()) if name.startswith(_PINS)}


def threads(count: int) -> dict[str, str]:
    """What gives the arithmetic of a contender so many threads."""
    return dict.fromkeys(_THREADS, str(count))


THREADS = threads(1)


def contender_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` for a contender: one thread, no pins, this checkout's runtime first on the path."""
    left_out = (*_PINS, "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in environ.items() if not name.startswith(left_out)}
    path = [str(ROOT / "runtime"), str(ROOT), *filter(None, [environ.get("PYTHONPATH")])]
    return {**kept, **THREADS, "PYTHONPATH": ":".join(path)}
