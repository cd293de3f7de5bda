"""Compiled code that an image has, brought to where processes of a pod look for it and may add to it.

numba takes none from a folder that it cannot write to, and a pod has its image read only. It must never know
what is compiled. Guarantee: what is brought is whole; where nothing can be, processes compile what they need.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

_OF_IMAGE = "PADDLE_KERNELS"
_OF_PROCESSES = "NUMBA_CACHE_DIR"


def bring(environ: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Copy it, unless processes have some already: a container that was started again."""
    source, place = environ.get(_OF_IMAGE, ""), environ.get(_OF_PROCESSES, "")
    if not source or not place or Path(place).exists():
        return
    part = Path(f"{place}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(source, part)
        part.rename(place)
    except OSError as error:  # shutil.Error is one, too
        say(
            f"{_OF_IMAGE}={source} could not be copied to {place}: {error}. Kernels are compiled here instead"
        )
