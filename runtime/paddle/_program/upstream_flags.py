"""Flags of upstream's, FLAGS_*, and CPU_NUM: the one reader of those that mean something here.

It must never know what a flag is for. Guarantee: what a program has set goes before what the environment
says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from paddle._program.errors import BadArgument

CHECK_FINITE = "FLAGS_check_nan_inf"
MERGED = "FLAGS_communicator_max_merge_var_num"
_set: dict[str, Any] = {}
_AT_FIRST: dict[str, Any] = {
    "FLAGS_allocator_strategy": "auto_growth",
    "FLAGS_benchmark": False,
    CHECK_FINITE: False,
    "FLAGS_cpu_deterministic": False,
    "FLAGS_eager_delete_tensor_gb": 0.0,
    "FLAGS_enable_parallel_graph": False,
    "FLAGS_enable_rpc_profiler": False,
    "FLAGS_fraction_of_cpu_memory_to_use": 1.0,
    "FLAGS_fuse_parameter_groups_size": 1,
    "FLAGS_fuse_parameter_memory_size": -1.0,
    "FLAGS_init_allocated_mem": False,
    "FLAGS_initial_cpu_memory_in_mb": 500,
    "FLAGS_inner_op_parallelism": 0,
    "FLAGS_memory_fraction_of_eager_deletion": 1.0,
    "FLAGS_paddle_num_threads": 1,
    "FLAGS_print_sub_graph_dir": "",
    "FLAGS_reader_queue_speed_test_mode": False,
    "FLAGS_use_pinned_memory": True,
    "FLAGS_use_system_allocator": False,
}
"""What a program finds that asks for flags of 1.8.5 for CPUs, and has set none."""
_WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "none": False}


def set_flags(flags: Mapping[str, Any]) -> None:
    """As ``fluid.set_flags``."""
    if CHECK_FINITE in flags:
        _truth(CHECK_FINITE, str(flags[CHECK_FINITE]))
    _set.update(flags)
    checks_finite.cache_clear()


@cache
def checks_finite() -> bool:
    """Whether what operators give is searched for NaN and Inf: FLAGS_check_nan_inf. The environment is asked
    once, for this is asked for each piece of each step."""
    return _truth(CHECK_FINITE, told(CHECK_FINITE) or "0")


def told(name: str) -> str | None:
    """What was set, or what the environment says; None where neither does."""
    if name in _set:
        return str(_set[name])
    return os.environ.get(name, "").strip() or None


def given(name: str) -> Any:
    """As ``fluid.get_flags``: as it was set, else as the environment says it, else as upstream has it."""
    said = told(name)
    if name in _set or name not in _AT_FIRST:
        return _set.get(name, said)
    first = _AT_FIRST[name]
    if said is None:
        return first
    return _truth(name, said) if isinstance(first, bool) else type(first)(said)


def deadline_s(otherwise_s: float) -> float:
    """How long a call to a server may take: FLAGS_rpc_deadline, in milliseconds."""
    said = told("FLAGS_rpc_deadline")
    return float(said) / 1000 if said is not None and said.isdigit() and int(said) else otherwise_s


def cpu_count() -> int:
    """How many places there are to compute at: CPU_NUM."""
    return _count("CPU_NUM", told("CPU_NUM") or "1", "how many places there are")


def merged_steps(otherwise: int, said: str | None = None) -> int:
    """Of how many steps a trainer merges gradients, where nobody waits. ``said``: what the program says."""
    return _count(MERGED, said or told(MERGED) or str(otherwise), "of how many steps gradients are merged")


def _truth(name: str, said: str) -> bool:
    if said.lower() not in _WORDS:
        raise BadArgument(f"{name} is {said!r}: it is 1 or 0")
    return _WORDS[said.lower()]


def _count(name: str, said: str, what: str) -> int:
    if not said.isdecimal() or int(said) < 1:
        raise BadArgument(f"{name} is {said!r}: it is {what}, a whole number from 1")
    return int(said)
