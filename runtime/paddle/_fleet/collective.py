"""Fleet of 1.x without parameter servers.

Rules:

1.  A job has one worker, which trains as it would without fleet. More of them are refused where a role maker
    says so.
2.  A strategy wraps the optimizer as its fields say. What divides work among workers changes nothing for one.

Guarantee: programs that ask for this fleet only where they are one of several run without a change.
"""

from __future__ import annotations

from typing import Any, ClassVar

from paddle._absent import NotInThisRelease
from paddle._fleet.checkpoints import Checkpoints
from paddle._fleet.errors import BadStrategy
from paddle._fleet.older import OlderFleet, OlderOptimizer
from paddle._fleet.role_makers import PaddleCloudRoleMaker, RoleMakerBase
from paddle._program.description.options import BuildStrategy, ExecutionStrategy
from paddle._program.moving.averaging import RecomputeOptimizer
from paddle._program.writing.mixed_precision import MixedPrecisionOptimizer


class LambConfig:
    """Nothing is said of LAMB; ``fluid.optimizer.LambOptimizer`` trains by it."""


class DistFCConfig:
    """Of a last layer that several workers have a part of each."""


class DistributedStrategy(BuildStrategy):
    """How a job trains (rule 2)."""

    use_dist_fc: bool
    forward_recompute: bool
    recompute_checkpoints: list[Any]
    use_amp: bool
    amp_loss_scaling: float
    _DEFAULTS: ClassVar[dict[str, Any]] = {
        **BuildStrategy._DEFAULTS,
        "use_local_sgd": False,
        "use_dist_fc": False,
        "dist_fc_config": None,
        "mode": "nccl2",
        "collective_mode": None,
        "forward_recompute": False,
        "recompute_checkpoints": [],
        "use_amp": False,
        "amp_loss_scaling": 2**15,
        "exec_strategy": None,
        "_ut4grad_allreduce": False,
    }

    def __init__(self) -> None:
        super().__init__()
        self.exec_strategy = ExecutionStrategy()


class CollectiveOptimizer(OlderOptimizer):
    """``optimizer``, as ``strategy`` has it."""

    def __init__(self, optimizer: Any, strategy: Any = None, placed: Any = None) -> None:
        strategy = DistributedStrategy() if strategy is None else strategy
        if not isinstance(strategy, DistributedStrategy):
            raise BadStrategy(
                "fleet.distributed_optimizer: strategy is a DistributedStrategy of "
                f"fluid.incubate.fleet.collective, and not {strategy!r}"
            )
        super().__init__(optimizer, strategy, placed or (lambda program, startup: None))

    def minimize(  # type: ignore[override]
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Any:
        """As the inner one's."""
        self.inner_opt = _wrapped(self.inner_opt, self.user_defined_strategy)
        self.user_defined_strategy = DistributedStrategy()  # it is wrapped once
        return super().minimize(
            loss,
            startup_program=startup_program,
            parameter_list=parameter_list,
            no_grad_set=no_grad_set,
        )


def _wrapped(optimizer: Any, told: DistributedStrategy) -> Any:
    """Rule 2."""
    if told.use_dist_fc:
        raise NotInThisRelease(
            "DistributedStrategy.use_dist_fc is not in this release: each worker computes all of a layer."
        )
    if told.forward_recompute:
        if not told.recompute_checkpoints:
            raise BadStrategy("forward_recompute of a strategy needs its recompute_checkpoints=[...]")
        optimizer = RecomputeOptimizer(optimizer)
        optimizer._set_checkpoints(told.recompute_checkpoints)
    if told.use_amp:
        scaling = told.amp_loss_scaling
        optimizer = MixedPrecisionOptimizer(optimizer, None, scaling)
    return optimizer


class Collective(Checkpoints, OlderFleet):
    """One process's."""

    def init(self, role_maker: RoleMakerBase | None = None) -> Any:  # type: ignore[override]
        """Say who this process is (rule 1); without a role maker the environment does."""
        role_maker = PaddleCloudRoleMaker(is_collective=True) if role_maker is None else role_maker
        if isinstance(role_maker, RoleMakerBase) and role_maker.place.is_distributed:
            raise NotInThisRelease(
                f"fluid.incubate.fleet.collective: its job is of one process, and {role_maker.to_string()}. "
                "With servers train by that of fluid.incubate.fleet.parameter_server.distribute_transpiler."
            )
        return super().init(role_maker)

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> CollectiveOptimizer:
        """The optimizer of the job. ``strategy``: a ``DistributedStrategy``."""
        _ = self.role_maker
        return CollectiveOptimizer(optimizer, strategy, self._placed)

    def _check_strategy(self) -> None:
        """It was, where it was given."""

    @property
    def _transpiled_program(self) -> Any:
        """The program that is trained."""
        return self.main_program
