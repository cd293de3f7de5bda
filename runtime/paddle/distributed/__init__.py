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
_COLLECTIVE = "training is with parameter servers (paddle.distributed.fleet)"
_LATER = dict.fromkeys(
    (
        *("ReduceOp", "all_gather", "all_reduce", "barrier", "broadcast", "get_group"),
        *("new_group", "recv", "reduce", "scatter"),
        *("send", "spawn", "split", "wait"),
    ),
    _COLLECTIVE,
)

__all__ = sorted(_MODULES | _DATASETS | _ENTRIES | _WORKERS)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.distributed.{name}")
    if name in _DATASETS:
        return getattr(import_module("paddle.distributed.fleet.dataset"), name)
    if name in _ENTRIES:
        return getattr(import_module("paddle.distributed.entry_attr"), name)
    if name in _WORKERS:
        return getattr(import_module("paddle.distributed.parallel"), name)
    raise missing(__name__, name, _LATER.get(name, ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
