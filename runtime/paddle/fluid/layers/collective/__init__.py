"""Collective training of several processes, which is not in this release: its operators' names, as programs
that may train so import them. Guarantee: who calls one is told what there is instead."""

from paddle._absent import absent

__all__: list[str] = []

_INSTEAD = "processes train together by parameter servers (fluid.incubate.fleet)"
_allreduce, _broadcast, _c_allreduce, _c_broadcast = (
    absent(f"paddle.fluid.layers.collective.{name}", _INSTEAD)
    for name in ("_allreduce", "_broadcast", "_c_allreduce", "_c_broadcast")
)
_c_allgather, _c_reducescatter, _c_sync_calc_stream, _c_sync_comm_stream = (
    absent(f"paddle.fluid.layers.collective.{name}", _INSTEAD)
    for name in ("_c_allgather", "_c_reducescatter", "_c_sync_calc_stream", "_c_sync_comm_stream")
)
