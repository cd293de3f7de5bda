"""What 2.x has on trial: ``paddle.incubate``, as far as it is of static programs.

It must never compute. Guarantee: each name is the very object of the module that it stands for, by the
arguments that 2.x gives it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._absent import AbsentName

_HOMES = {
    "geometric": "graph_send_recv segment_max segment_mean segment_min segment_sum",
    "incubate.optimizer": "LookAhead ModelAverage",
    "incubate.masks": "softmax_mask_fuse softmax_mask_fuse_upper_triangle",
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = frozenset({"distributed", "layers", "optimizer"})
_ABSENT = """
    DistributedFusedLamb asp autograd autotune checkpoint fleet graph_khop_sampler graph_reindex
    graph_sample_neighbors hapi identity_loss multiprocessing nn operators passes xpu
    """.split()  # noqa: SIM905  read in columns

__all__ = [*sorted(_MODULES), *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.incubate.{name}")
    if name in _WHERE:
        value = globals()[name] = getattr(import_module(f"paddle.{_WHERE[name]}"), name)
        return value
    if name in _ABSENT:
        raise AbsentName(
            f"paddle.incubate.{name} is not in this release; models for parameter servers are written with "
            "paddle.static, paddle.nn and paddle.distributed.fleet."
        )
    raise AttributeError(f"paddle.incubate.{name} does not exist", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
