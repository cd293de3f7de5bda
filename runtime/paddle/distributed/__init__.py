"""``paddle.distributed``: a name is looked up when it is first used, so that the launcher loads no array.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for.
"""

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_MODULES = frozenset({"fleet", "launch"})
_DATASETS = frozenset({"InMemoryDataset", "QueueDataset"})
_ENTRIES = frozenset({"CountFilterEntry", "ProbabilityEntry", "ShowClickEntry"})
_WORKERS = frozenset(
    {
        *("ParallelEnv", "get_rank", "get_world_size"),
        *("init_parallel_env", "is_available", "is_initialized"),
    }
)
_AMONG_ALL = frozenset(
    {
        *("ParallelMode", "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "alltoall"),
        *("alltoall_single", "barrier", "broadcast", "broadcast_object_list", "destroy_process_group"),
        *("gather", "get_group", "new_group", "reduce", "reduce_scatter", "scatter", "scatter_object_list"),
        "wait",
    }
)
_COLLECTIVE = "training is with parameter servers (paddle.distributed.fleet)"
_LATER = dict.fromkeys(("irecv", "isend", "recv", "send", "spawn", "split"), _COLLECTIVE)
_LATER["fs_wrapper"] = "local files and HDFS are LocalFS and HDFSClient of paddle.distributed.fleet.utils.fs"
_LATER["utils"] = _LATER["cloud_utils"] = (
    "it is a part of upstream's launcher; start python -m paddle.distributed.launch"
)

__all__ = sorted(_MODULES | _DATASETS | _ENTRIES | _WORKERS | _AMONG_ALL)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.distributed.{name}")
    if name in _DATASETS:
        return getattr(import_module("paddle.distributed.fleet.dataset"), name)
    if name in _ENTRIES:
        return getattr(import_module("paddle.distributed.entry_attr"), name)
    if name in _WORKERS:
        return getattr(import_module("paddle.distributed.parallel"), name)
    if name in _AMONG_ALL:
        return getattr(import_module("paddle.distributed.collective"), name)
    raise missing(__name__, name, _LATER.get(name, ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
