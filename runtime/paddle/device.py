"""Where it is computed: ``paddle.get_device`` and its family. There is one device, the CPU.

It must never look for another one. Guarantee: who asks for one is told so by name.
"""

from __future__ import annotations

from paddle._absent import NotInThisRelease

__all__ = ["get_cudnn_version", "get_device", "is_compiled_with_cuda", "is_compiled_with_xpu", "set_device"]


def get_device() -> str:
    """The device: "cpu"."""
    return "cpu"


def set_device(device: str) -> object:
    """Compute on ``device``, which is "cpu"; returns its place."""
    if device.partition(":")[0] != "cpu":
        raise NotInThisRelease(f"paddle.set_device({device!r}): this release computes on the CPU: say 'cpu'")
    from paddle._program.places import CPUPlace

    return CPUPlace()


def is_compiled_with_cuda() -> bool:
    """Whether there may be GPUs: no."""
    return False


def is_compiled_with_xpu() -> bool:
    """Whether there may be XPUs: no."""
    return False


def get_cudnn_version() -> None:
    """There is none."""
