"""Where a part of a program is computed: ``paddle.static.device_guard``.

It must never know a device. Guarantee: what is said of one changes no number; there is one, the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["device_guard"]


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """What is appended within is meant for ``device``: "cpu", "gpu" or "gpu:0"."""
    if device is not None and device.partition(":")[0] not in ("cpu", "gpu", "xpu", "npu"):
        raise ValueError(f"a device is 'cpu' or 'gpu', not {device!r}")
    yield
