"""Where it is computed: ``paddle.get_device`` and its family. There is one device, the CPU.

It must never look for another one. Guarantee: who asks for one is told so by name.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._absent import NotInThisRelease
from paddle._public_names import missing

__all__ = [
    *("get_all_custom_device_type", "get_all_device_type", "get_available_custom_device"),
    *("get_available_device", "get_cudnn_version", "get_device", "is_compiled_with_cinn"),
    *("is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute"),
    *("is_compiled_with_ipu", "is_compiled_with_npu", "is_compiled_with_rocm", "is_compiled_with_xpu"),
    "set_device",
]


def get_device() -> str:
    """The device: "cpu"."""
    return "cpu"


def set_device(device: str) -> object:
    """Compute on ``device``, which is "cpu", in letters of any size; returns its place."""
    if device.lower().partition(":")[0] != "cpu":
        raise NotInThisRelease(f"paddle.set_device({device!r}): this release computes on the CPU: say 'cpu'")
    from paddle._program.running.places import CPUPlace

    return CPUPlace()


def is_compiled_with_cuda() -> bool:
    """Whether there may be GPUs: no."""
    return False


def is_compiled_with_xpu() -> bool:
    """Whether there may be XPUs: no."""
    return False


def is_compiled_with_npu() -> bool:
    """Whether there may be NPUs: no."""
    return False


def is_compiled_with_rocm() -> bool:
    """Whether there may be GPUs of AMD: no."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether there may be devices of that kind: no."""
    return False


def is_compiled_with_ipu() -> bool:
    """Whether there may be IPUs: no."""
    return False


def is_compiled_with_cinn() -> bool:
    """Whether programs are compiled by CINN: no, plans are this runtime's own."""
    return False


def is_compiled_with_distribute() -> bool:
    """Whether parameter servers are in it: yes."""
    return True


def get_all_device_type() -> list[str]:
    """Kinds of devices besides the CPU: none."""
    return []


def get_cudnn_version() -> None:
    """There is none."""


get_all_custom_device_type = get_available_device = get_available_custom_device = get_all_device_type


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
