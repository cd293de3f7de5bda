"""The environment that every contender starts in: thread counts stated, pins on linear algebra dropped.

It must be complete before numpy is imported, one reason why contenders are processes of their own. A pin such
as OPENBLAS_CORETYPE can halve the speed of a machine; without it the library chooses the kernel made for the
processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
_PINS = ("OPENBLAS_", "GOTO_", "OMP_", "MKL_")


def pins(environ: Mapping[str, str]) -> dict[str, str]:
    """Settings of linear algebra libraries in the caller's environment, none of which contenders inherit."""
    return {name: value for name, value in sorted(environ.items()) if name.startswith(_PINS)}


def contender_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` for a contender: one thread, no pins, this checkout's runtime first on the path."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_PINS)}
    path = [str(ROOT / "runtime"), str(ROOT), *filter(None, [environ.get("PYTHONPATH")])]
    return {**kept, **THREADS, "PYTHONPATH": ":".join(path)}
