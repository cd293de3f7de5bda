"""What fleets of the original have, and those of this release have not: names, and what there is instead.

It must never know a job. Guarantee: whoever asks a fleet for such a name is told by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from paddle._absent import AbsentName

_DYGRAPH = "programs are static here (paddle.enable_static)"
_COLLECTIVE = "training is with parameter servers, not collective"
_AS_THEY_ARE = "dense parameters are kept as they are"
_ALL_TABLES = "tables are saved by save_persistables"

LATER = {
    **dict.fromkeys(
        (
            *("distributed_model", "step", "clear_grad", "set_lr", "get_lr", "state_dict", "set_state_dict"),
            *("amp_init", "set_date", "get_loss_scaling", "qat_init"),
        ),
        _DYGRAPH,
    ),
    **dict.fromkeys(
        (
            *("CommunicateTopology", "HybridCommunicateGroup", "collective_perf", "allreduce_perf"),
            *("allgather_perf", "broadcast_perf", "reduce_perf", "reduce_scatter_perf"),
            *("get_hybrid_communicate_group", "get_hybrid_parallel_topology"),
        ),
        _COLLECTIVE,
    ),
    **dict.fromkeys(("local_device_ids", "world_device_ids"), "all is computed on CPUs"),
    **dict.fromkeys(
        ("save_cache_model", "save_cache_table"),
        "servers hold all rows in memory, so none are apart from others: save_persistables saves all",
    ),
    **dict.fromkeys(
        ("init_coordinator", "make_fl_strategy", "get_fl_client"),
        "federated learning is not built: workers of a job train one model",
    ),
}
"""Those of 2.x, at ``paddle.distributed.fleet`` and of its Fleet."""

OLDER = {
    **LATER,
    **dict.fromkeys(
        ("save_check_point", "load_check_point", "clean_redundant_check_points"),
        "save_persistables saves what a job goes on from, and init_server(model_dir) begins from it",
    ),
    "run_worker": "a worker trains by an executor; init_worker() comes before it",
}
"""Those of 1.x: of the fleets of fluid.incubate."""

PSLIB = {
    **OLDER,
    **dict.fromkeys(("save_model", "save_model_with_whitelist", "load_pslib_whitelist"), _ALL_TABLES),
    **dict.fromkeys(("shrink_dense_table", "clear_model", "clear_one_table"), _AS_THEY_ARE),
    **dict.fromkeys(("print_table_stat", "set_date"), "servers show what they have on a page of their own"),
    **dict.fromkeys(("confirm", "revert"), "what is pushed counts, and is not taken back"),
    "set_pull_local_thread_num": "there are no such threads",
}
"""Those of the fleet of pslib besides."""


def refuse(fleet: object, module: str, known: Mapping[str, str], name: str) -> NoReturn:
    """Say of ``fleet``, which is found in ``module``, that it has not this name, and why where that is
    ``known``."""
    said: Any = f"{module}.{name}"
    if name in known:
        raise AbsentName(f"{said} is not in this release: {known[name]}.")
    raise AttributeError(f"{said} does not exist", name=name, obj=fleet)
