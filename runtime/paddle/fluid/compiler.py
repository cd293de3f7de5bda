"""Compiled programs: what upstream compiles a program to, with how it is to be done.

It must never run anything. Guarantee: a compiled program is run as its program is, since every program is
compiled before it runs; options that say what upstream's graph passes do are kept and change no result.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

from paddle._absent import absent
from paddle._program.errors import BadArgument
from paddle._program.program import Program

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]


class _Options:
    """Named options with defaults; a name that upstream does not have is an error."""

    _DEFAULTS: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        vars(self).update(self._DEFAULTS)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._DEFAULTS:
            known = ", ".join(self._DEFAULTS)
            raise AttributeError(f"{type(self).__name__} has no option {name!r}; it has {known}")
        vars(self)[name] = value

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({said})"


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


class BuildStrategy(_Options):
    """How a graph is built. Operators are fused and memory is shared here in any case."""

    ReduceStrategy = _ReduceStrategy
    GradientScaleStrategy = _GradientScaleStrategy
    _DEFAULTS: ClassVar[dict[str, Any]] = {
        "reduce_strategy": _ReduceStrategy.AllReduce,
        "gradient_scale_strategy": _GradientScaleStrategy.CoeffNumDevice,
        "debug_graphviz_path": "",
        **dict.fromkeys(
            (
                *(
                    "async_mode",
                    "cache_runtime_context",
                    "enable_auto_fusion",
                    "enable_backward_optimizer_op_deps",
                ),
                *(
                    "enable_inplace",
                    "enable_sequential_execution",
                    "fuse_all_optimizer_ops",
                    "fuse_bn_act_ops",
                ),
                *(
                    "fuse_all_reduce_ops",
                    "fuse_broadcast_ops",
                    "fuse_elewise_add_act_ops",
                    "fuse_relu_depthwise_conv",
                ),
                *(
                    "memory_optimize",
                    "remove_unnecessary_lock",
                    "sync_batch_norm",
                    "use_legacy_memory_optimize_strategy",
                ),
                *("is_distribution", "fuse_gemm_epilogue", "fix_op_run_order", "allow_cuda_graph_capture"),
                *(
                    "enable_addto",
                    "fuse_bn_add_act_ops",
                    "hierarchical_allreduce",
                    "use_hierarchical_allreduce",
                ),
            ),
            False,
        ),
        "nccl_comm_num": 1,
        "num_trainers": 1,
        "trainer_id": 0,
        "trainers_endpoints": [],
        "mkldnn_enabled_op_types": set(),
        "bkcl_comm_num": 1,
        "hierarchical_allreduce_inter_nranks": 0,
    }


class ExecutionStrategy(_Options):
    """How a graph is run. Threads are those of the linear algebra here."""

    ExecutorType = _ExecutorType
    _DEFAULTS: ClassVar[dict[str, Any]] = {
        "num_threads": 0,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "allow_op_delay": False,
        "use_experimental_executor": False,
        "use_cuda": False,
        "use_thread_barrier": False,
        "use_device": 0,
        "dry_run": False,
        "type": _ExecutorType.Default,
    }


class CompiledProgram:
    """A program, and how it is to be compiled. ``Executor.run`` takes it wherever it takes a Program."""

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        program = getattr(program_or_graph, "_program", program_or_graph)
        if not isinstance(program, Program):
            raise BadArgument(f"CompiledProgram takes a Program, and not {program_or_graph!r}")
        self._program = program
        self._build_strategy = build_strategy
        self._exec_strategy: ExecutionStrategy | None = None
        self._loss_name: str | None = None
        self._is_data_parallel = False

    def with_data_parallel(
        self,
        loss_name: str | None = None,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: CompiledProgram | None = None,
        places: Any = None,
    ) -> CompiledProgram:
        """Have each batch computed by all places. There is one, so each batch is computed as a whole."""
        if self._is_data_parallel:
            raise BadArgument("with_data_parallel has been called already: it is called once")
        if share_vars_from is not None and not isinstance(share_vars_from, CompiledProgram):
            raise BadArgument(f"share_vars_from is a CompiledProgram, and not {share_vars_from!r}")
        self._is_data_parallel = True
        self._loss_name = loss_name
        self._build_strategy = build_strategy or self._build_strategy
        self._exec_strategy = exec_strategy
        return self

    with_inference_optimize = absent(
        "CompiledProgram.with_inference_optimize", "a program cloned with for_test=True is run by Executor"
    )
