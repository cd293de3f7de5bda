"""How a program is transpiled: DistributeTranspilerConfig, of fluid, which fleet of 1.x takes for a strategy.

It must never know a program. Guarantee: what is set and would train something else is refused by name; what
changes nothing here is said once.
"""

from __future__ import annotations

import warnings
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._engine.exchange import ModeSpec
from paddle._program import modes
from paddle._program.description.operator import level_of_user
from paddle._program.errors import BadArgument
from paddle._program.upstream_flags import cpu_count, merged_steps

_ABSENT_MODES = {
    "nccl2": "collective training on GPUs: this release computes on CPUs, with parameter servers",
    "collective": "collective training: this release trains with parameter servers",
}
_IDLE = ("completely_not_async", "runtime_split_send_recv", "use_hierarchical_allreduce")


class DistributeTranspilerConfig:
    """How a program is transpiled. ``slice_var_up``: parameters are cut, in blocks of ``min_block_size``
    elements or more, and ``split_method`` says where they are shown. ``geo_sgd_mode``: trainers update by
    themselves and meet every ``geo_sgd_need_push_nums`` steps. ``half_async``: asynchronous, and a trainer
    merges the gradients of as many steps as FLAGS_communicator_max_merge_var_num or CPU_NUM says.
    ``enable_dc_asgd``: servers correct a gradient by how far its parameter has moved since its trainer was
    given it; out of step, and of dense parameters.
    """

    def __init__(self) -> None:
        self.slice_var_up = True
        self.split_method: Any = None
        self.min_block_size = 8192
        self.enable_dc_asgd = False
        self.mode = "pserver"
        self.print_log = False
        self.wait_port = True
        self.sync_mode = True
        self.runtime_split_send_recv = False
        self.half_async = False
        self.completely_not_async = False
        self.geo_sgd_mode = False
        self.geo_sgd_need_push_nums = 100
        self.use_hierarchical_allreduce = False
        self.hierarchical_allreduce_inter_nranks = 0
        self.nccl_comm_num = 1
        self.collective_mode: str | None = None
        self.do_not_run_server = False

    def _check(self) -> None:
        """Refuse what this release does not have."""
        if (why := _ABSENT_MODES.get(str(self.mode))) is not None:
            raise NotInThisRelease(
                f"DistributeTranspilerConfig.mode={self.mode!r} is not in this release: {why}"
            )
        idle = [name for name in _IDLE if getattr(self, name)]
        if self.enable_dc_asgd and self.geo_sgd_mode:
            idle.append("enable_dc_asgd")
        if idle:
            text = f"DistributeTranspilerConfig: {', '.join(idle)} changes nothing here"
            warnings.warn(text, stacklevel=level_of_user())

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._check()
        if self.geo_sgd_mode:
            return modes.geo(int(self.geo_sgd_need_push_nums), said="geo_sgd_need_push_nums")
        if sync_mode:
            self._check_in_step()
            return modes.in_step()
        return self._out_of_step(merged_steps(cpu_count()) if self.half_async else 1)

    def _out_of_step(self, merged: int) -> ModeSpec:
        return modes.out_of_step(merged, compensates=bool(self.enable_dc_asgd))

    def _check_in_step(self) -> None:
        if self.enable_dc_asgd:
            raise BadArgument(
                "enable_dc_asgd makes up for gradients that come late, and in step none does: train with "
                "sync_mode=False, or take it away"
            )
