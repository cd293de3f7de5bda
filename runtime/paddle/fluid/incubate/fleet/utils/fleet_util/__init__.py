"""FleetUtil: what workers of 1.x say and measure together.

It must never know a role. Guarantee: a measure is of all workers where they meet (docs/fleet.md), and what is
not here is refused by name.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from paddle import _absent
from paddle._engine.auc import area_under_curve
from paddle._fleet.errors import FleetError
from paddle._fleet.older import OlderFleet
from paddle._program.running.scope import global_scope
from paddle.fluid.incubate.fleet.parameter_server import distribute_transpiler, pslib

__all__ = ["FleetUtil"]

_log = logging.getLogger(__name__)
_FLEETS: dict[str, OlderFleet] = {"pslib": pslib.fleet, "transpiler": distribute_transpiler.fleet}
_NO_HDFS = "models are in folders of this machine: fleet.save_persistables, fleet.save_inference_model"
_LATER = {
    **dict.fromkeys(
        (
            *(
                "save_model",
                "save_fleet_model",
                "save_batch_model",
                "save_delta_model",
                "save_xbox_base_model",
            ),
            *(
                "save_cache_model",
                "save_cache_base_model",
                "save_paddle_params",
                "save_paddle_inference_model",
            ),
            *(
                "load_fleet_model",
                "load_fleet_model_one_table",
                "write_model_donefile",
                "write_cache_donefile",
            ),
            *("write_xbox_donefile", "get_last_save_model", "get_last_save_xbox", "get_last_save_xbox_base"),
            *("pull_all_dense_params",),
        ),
        _NO_HDFS,
    ),
    **dict.fromkeys(
        ("print_global_metrics", "get_global_metrics", "get_online_pass_interval", "program_type_trans"),
        "rank0_print, set_zero and get_global_auc are",
    ),
}


class FleetUtil:
    """``mode``: of which fleet, pslib's or the transpiler's."""

    def __init__(self, mode: str = "pslib") -> None:
        if mode not in _FLEETS:
            raise FleetError(f"FleetUtil: mode is one of {', '.join(_FLEETS)}, and not {mode!r}")
        self._fleet = _FLEETS[mode]

    def rank0_print(self, s: Any) -> None:
        """Print on worker 0."""
        if self._fleet.worker_index() == 0:
            print(s, flush=True)

    def rank0_info(self, s: Any) -> None:
        """Log on worker 0."""
        if self._fleet.worker_index() == 0:
            _log.info("%s", s)

    def rank0_error(self, s: Any) -> None:
        """Log an error on worker 0."""
        if self._fleet.worker_index() == 0:
            _log.error("%s", s)

    def set_zero(
        self, var_name: str, scope: Any = None, place: Any = None, param_type: str = "int64"
    ) -> None:
        """Set all that a variable has counted to 0, as ``param_type``."""
        held = self._held(var_name, scope)
        if held is None:
            raise FleetError(f"FleetUtil.set_zero: the scope has no value of {var_name}")
        tensor = held.get_tensor()
        tensor.set(np.zeros(np.array(tensor).shape, param_type))

    def get_global_auc(
        self, scope: Any = None, stat_pos: str = "_generated_var_2", stat_neg: str = "_generated_var_3"
    ) -> float | None:
        """The area under the ROC curve, of what all workers have counted in these two variables of
        ``layers.auc``; None where the scope has them not."""
        held = [self._held(name, scope) for name in (stat_pos, stat_neg)]
        if None in held:
            self.rank0_print(f"not found auc bucket: {stat_pos}, {stat_neg}")
            return None
        counts = [np.asarray(each.get_tensor(), np.float64).ravel() for each in held if each is not None]
        return area_under_curve(
            *(np.asarray(self._fleet.util.all_reduce(each)) for each in counts), alone=0.5
        )

    def print_global_auc(
        self,
        scope: Any = None,
        stat_pos: str = "_generated_var_2",
        stat_neg: str = "_generated_var_3",
        print_prefix: str = "",
    ) -> None:
        """Print that on worker 0."""
        self.rank0_print(f"{print_prefix} global auc = {self.get_global_auc(scope, stat_pos, stat_neg)}")

    @staticmethod
    def _held(name: str, scope: Any) -> Any:
        found = (global_scope() if scope is None else scope).find_var(name)
        return found if found is not None and found.is_initialized() else None

    def __getattr__(self, name: str) -> Any:
        if name in _LATER:
            raise _absent.AbsentName(f"FleetUtil.{name} is not in this release: {_LATER[name]}.")
        raise AttributeError(f"FleetUtil.{name} does not exist", name=name, obj=self)
