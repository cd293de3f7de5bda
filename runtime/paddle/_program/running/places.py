"""Places: where a program says that it wants to be computed. There is one, the CPU.

They must never know a device. Guarantee: programs for other devices may say so and ask what there is; who
runs one there is refused with words (``checked``), never silently taken elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument
from paddle._program.upstream_flags import cpu_count


class Place:
    """Base of all; equal where kind and number are."""

    def __init__(self) -> None:
        self._id = 0

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self._id))

    def __repr__(self) -> str:
        return f"{type(self).__name__}"

    _type = property(lambda self: type(self).__name__)


class CPUPlace(Place):
    """This process."""


class CUDAPinnedPlace(Place):
    """Memory that a GPU would see; here it is memory."""


class _Device(Place):
    def __init__(self, id: int = 0) -> None:
        super().__init__()
        if not isinstance(id, int) or isinstance(id, bool) or id < 0:
            raise BadArgument(f"{type(self).__name__}(id): the number of a device is 0 or more, not {id!r}")
        self._id = id

    def get_device_id(self) -> int:
        """Its number."""
        return self._id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._id})"


class CUDAPlace(_Device):
    """A GPU. A program may say so; nothing runs there."""


class XPUPlace(_Device):
    """A Kunlun chip. A program may say so; nothing runs there."""


class NPUPlace(_Device):
    """An Ascend chip. A program may say so; nothing runs there."""


def checked(place: Any) -> Any:
    """The place of an Executor: the CPU, also for None and "cpu"; others are refused."""
    if place is None or place == "cpu":
        return CPUPlace()
    if isinstance(place, CPUPlace | CUDAPinnedPlace):
        return place
    if isinstance(place, Place) or (
        isinstance(place, str) and place.partition(":")[0] in ("gpu", "xpu", "npu")
    ):
        raise NotInThisRelease(
            f"nothing is computed on {place!r}: this release computes on CPUs. "
            "Give fluid.CPUPlace(), or ask fluid.core.is_compiled_with_cuda() before"
        )
    raise BadArgument(f"a place is fluid.CPUPlace(), and not {place!r}")


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """As many as are asked for, else as the environment variable CPU_NUM says, else one."""
    if device_count is None:
        device_count = cpu_count()
    return [CPUPlace()] * device_count


def cuda_places(device_ids: Sequence[int] | int | None = None) -> list[CUDAPlace]:
    """GPUs; those of the environment are none."""
    if device_ids is None:
        raise NotInThisRelease(
            "cuda_places() finds no GPU: this release computes on CPUs (cpu_places()). "
            "fluid.core.is_compiled_with_cuda() is False"
        )
    return [CUDAPlace(id) for id in ([device_ids] if isinstance(device_ids, int) else device_ids)]


def cuda_pinned_places(device_count: int | None = None) -> list[CUDAPinnedPlace]:
    """As many as are asked for, one by default."""
    return [CUDAPinnedPlace()] * (device_count or 1)


def is_compiled_with_cuda() -> bool:
    """No: this release computes on CPUs."""
    return False


def get_cuda_device_count() -> int:
    """None, whatever is in the machine."""
    return 0
