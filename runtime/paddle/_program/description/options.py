"""Options of how upstream compiles and runs a program: BuildStrategy and ExecutionStrategy.

It must never know who reads them. Guarantee: they are kept and change no result; a name that upstream has in
no release from 0.14 to 2.6 is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from enum import IntEnum
from typing import Any, ClassVar


class Options:
    """Named options with defaults; a name that upstream does not have is an error."""

    _DEFAULTS: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        vars(self).update(deepcopy(self._DEFAULTS))  # lists and sets are its own

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._DEFAULTS:
            known = ", ".join(self._DEFAULTS)
            raise AttributeError(f"{type(self).__name__} has no option {name!r}; it has {known}")
        vars(self)[name] = value

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({said})"


def changed(options: Options, before: Options | None = None) -> dict[str, bool | int | str]:
    """What of them was set to something else than it begins with, or ``before`` has, as far as a text can
    say it."""
    begun = type(options)._DEFAULTS if before is None else vars(before)
    said = {name: value for name, value in vars(options).items() if value != begun[name]}
    plain = {name: int(of) if isinstance(of, IntEnum) else of for name, of in said.items()}
    return {name: value for name, value in plain.items() if isinstance(value, bool | int | str)}


def changed_by(options: Options, said: Mapping[str, Any]) -> Options:
    """Set what such a text says; another release's own names are left out, as none changes a result."""
    for name, value in said.items():
        if name in options._DEFAULTS:
            begins = options._DEFAULTS[name]
            setattr(options, name, value if begins is None else type(begins)(value))
    return options


class _ReduceStrategy(IntEnum):
    AllReduce = 0
    Reduce = 1


class _GradientScaleStrategy(IntEnum):
    CoeffNumDevice = 0
    One = 1
    Customized = 2


class _ExecutorType(IntEnum):
    Default = 0
    Experimental = 1


_ON = """
    enable_backward_optimizer_op_deps enable_inplace fuse_all_reduce_ops fuse_bn_add_act_ops
    fuse_broadcast_ops remove_unnecessary_lock
    """.split()  # noqa: SIM905  read in columns
_OFF = """
    allow_cuda_graph_capture async_mode build_cinn_pass cache_runtime_context enable_addto
    enable_auto_fusion enable_data_balance enable_parallel_graph enable_sequential_execution
    fix_op_run_order fuse_adamw fuse_all_optimizer_ops fuse_bn_act_ops fuse_broadcast_op
    fuse_elewise_add_act_ops fuse_gemm_epilogue fuse_relu_depthwise_conv fused_attention
    fused_feedforward hierarchical_allreduce is_distribution memory_early_delete sequential_run
    sync_batch_norm use_hierarchical_allreduce use_legacy_memory_optimize_strategy
    """.split()  # noqa: SIM905  read in columns
"""Options of a graph that upstream begins with, and those that it begins without."""


class BuildStrategy(Options):
    """How a graph is built. Operators are fused and memory is shared here in any case."""

    ReduceStrategy = _ReduceStrategy
    GradientScaleStrategy = _GradientScaleStrategy
    _DEFAULTS: ClassVar[dict[str, Any]] = {
        "reduce_strategy": _ReduceStrategy.AllReduce,
        "gradient_scale_strategy": _GradientScaleStrategy.CoeffNumDevice,
        "debug_graphviz_path": "",
        **dict.fromkeys(_ON, True),
        **dict.fromkeys(_OFF, False),
        "memory_optimize": None,
        "nccl_comm_num": 1,
        "num_trainers": 1,
        "trainer_id": 0,
        "trainers_endpoints": [],
        "mkldnn_enabled_op_types": set(),
        "bkcl_comm_num": 1,
        "hierarchical_allreduce_inter_nranks": 0,
    }

    def _finalize_strategy_and_create_passes(self) -> Passes:
        """Passes over a graph, to which programs add theirs: they change nothing."""
        return Passes()


class Passes:
    """Stands for upstream's list of what is done to a graph, by names."""

    def __init__(self) -> None:
        self._passes: list[OnePass] = []

    def all_passes(self) -> list[OnePass]:
        """Those that were added."""
        return list(self._passes)

    def append_pass(self, name: str) -> OnePass:
        """Add one at the end."""
        return self.insert_pass(len(self._passes), name)

    def insert_pass(self, place: int, name: str) -> OnePass:
        """Add one before others."""
        made = OnePass(name)
        self._passes.insert(place, made)
        return made

    def remove_pass(self, place: int) -> None:
        """Take one away."""
        del self._passes[place]


class OnePass:
    """One of them, which is told values by name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._values: dict[str, Any] = {}

    def type(self) -> str:
        """Its name."""
        return self._name

    def set(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._values[name] = value

    set_not_owned = set


class ExecutionStrategy(Options):
    """How a graph is run. Threads are those of the linear algebra here."""

    ExecutorType = _ExecutorType
    _DEFAULTS: ClassVar[dict[str, Any]] = {
        "num_threads": 0,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "allow_op_delay": False,
        "use_experimental_executor": True,
        "use_cuda": True,
        "use_thread_barrier": False,
        "use_device": 0,
        "dry_run": False,
        "type": _ExecutorType.Default,
    }
