"""ParallelExecutor: the name under which programs before 1.4 ran a batch on several devices.

It must never compute itself. Guarantee: what it runs gives what ``Executor.run`` gives for the same batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument, check_known
from paddle._program.files.variables import program_of
from paddle._program.running.executor import Executor
from paddle._program.running.places import CPUPlace
from paddle._program.running.scope import Scope, global_scope
from paddle._program.upstream_flags import cpu_count
from paddle.fluid.compiler import BuildStrategy, ExecutionStrategy, tell_of_sums

__all__ = ["BuildStrategy", "ExecutionStrategy", "ParallelExecutor"]


_FORMER = "num_threads allow_op_delay use_default_grad_scale balance_parameter_opt_between_cards"
"""Arguments of 0.12 and 0.13, which later ones have in strategies."""


class ParallelExecutor:
    """Runs one program, the default one, or that of another whose values are seen (``share_vars_from``)."""

    def __init__(
        self,
        use_cuda: bool = False,
        loss_name: str | None = None,
        main_program: Any = None,
        share_vars_from: ParallelExecutor | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        build_strategy: BuildStrategy | None = None,
        num_trainers: int = 1,
        trainer_id: int = 0,
        scope: Scope | None = None,
        **others: Any,
    ) -> None:
        check_known("ParallelExecutor", others, _FORMER)
        if use_cuda:
            raise NotInThisRelease(
                "ParallelExecutor(use_cuda=True): this release computes on CPUs. Give "
                "use_cuda=fluid.core.is_compiled_with_cuda()"
            )
        if share_vars_from is not None and not isinstance(share_vars_from, ParallelExecutor):
            raise BadArgument(f"share_vars_from is a ParallelExecutor, and not {share_vars_from!r}")
        tell_of_sums(build_strategy, cpu_count())
        shared = share_vars_from._scope if share_vars_from is not None else None
        self._program = program_of(main_program)
        self._scope = scope or shared or global_scope()
        self._executor = Executor(CPUPlace())

    def run(
        self,
        fetch_list: Any,
        feed: Any = None,
        feed_dict: Mapping[str, Any] | None = None,
        return_numpy: bool = True,
    ) -> list[Any]:
        """Run the program once. ``feed``: a batch, or a list of its parts."""
        given = feed if feed is not None else feed_dict
        return self._executor.run(
            self._program, given, fetch_list, scope=self._scope, return_numpy=return_numpy
        )

    @property
    def device_count(self) -> int:
        """How many places compute."""
        return 1

    def bcast_params(self) -> None:
        """Nothing: there is one copy of each parameter."""

    def drop_local_exe_scopes(self) -> None:
        """Nothing: what a run needs is in one arena, which is used again."""

    def close(self) -> None:
        """As ``Executor.close``."""
        self._executor.close()
