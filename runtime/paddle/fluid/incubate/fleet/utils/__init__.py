"""What goes with fleet of 1.x: files, and what workers say together."""

from typing import Any

from paddle import _absent

_LATER = {
    "fleet_barrier_util": "workers wait for each other by fleet.util.barrier()",
    "http_server": "processes meet at the parameter servers",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        raise _absent.AbsentName(
            f"paddle.fluid.incubate.fleet.utils.{name} is not in this release: {_LATER[name]}."
        )
    raise AttributeError(f"paddle.fluid.incubate.fleet.utils.{name} does not exist", name=name)
