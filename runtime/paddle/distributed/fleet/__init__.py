"""``paddle.distributed.fleet``: one process's part in a job with parameter servers.

Its functions are those of one Fleet, which is this process's. A name is looked up when it is first used, so
that the launcher, which lies here too, loads no array. It must never hold code of its own.
"""

from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

from paddle._fleet.absent_names import LATER
from paddle._loading import undisturbed
from paddle._public_names import missing

_FUNCTIONS = (
    *("init", "is_first_worker", "worker_index", "worker_num", "node_num", "local_rank", "is_worker"),
    *("worker_endpoints", "server_num", "server_index", "server_endpoints", "is_server", "barrier_worker"),
    *("init_worker", "init_server", "run_server", "stop_worker", "distributed_optimizer", "minimize"),
    *("save_inference_model", "save_persistables", "shrink", "rank", "nranks", "world_size", "rank_in_node"),
    *("save", "save_one_table", "save_dense_params", "check_save_pre_patch_done", "all_reduce"),
    *("load_model", "load_one_table", "load_inference_model", "is_coordinator"),
)
_MODULE_OF = {
    "Fleet": "base.fleet_base",
    "fleet": "base.fleet_base",
    "DistributedStrategy": "base.distributed_strategy",
    **dict.fromkeys(("PaddleCloudRoleMaker", "Role", "UserDefinedRoleMaker"), "base.role_maker"),
    "UtilBase": "base.fleet_base",
    **dict.fromkeys(("MultiSlotDataGenerator", "MultiSlotStringDataGenerator"), "data_generator"),
    **dict.fromkeys(
        (
            *("BoxPSDataset", "DatasetBase", "FileInstantDataset", "InMemoryDataset", "QueueDataset"),
            *("DatasetFactory",),
        ),
        "dataset",
    ),
}
_MODULES = frozenset({"base", "data_generator", "dataset", "launch", "metrics", "utils"})
__all__ = sorted({*_FUNCTIONS, *_MODULE_OF, *_MODULES, "util"})


def __getattr__(name: str) -> Any:
    with undisturbed():
        return _look_up(name)


def _look_up(name: str) -> Any:
    if name in _FUNCTIONS or name == "util":
        return getattr(import_module("paddle.distributed.fleet.base.fleet_base").fleet, name)
    module = name if name in _MODULES else _MODULE_OF.get(name)
    if module is not None and _is_there(module):
        found = import_module(f"paddle.distributed.fleet.{module}")
        return found if name in _MODULES else getattr(found, name)
    raise missing(__name__, name, LATER.get(name, ""))


def _is_there(module: str) -> bool:
    """Whether a module is built; who would ask an import would be sent here again."""
    return PathFinder.find_spec(f"{__name__}.{module.partition('.')[0]}", __path__) is not None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
