"""Strategies of 1.x: StrategyFactory and what it makes.

It must never know a fleet. Guarantee: each says the mode that its name says, and begins with the options that
it has in the original; settings of the original's threads and queues are kept, and change nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from paddle._absent import NotInThisRelease
from paddle._engine.exchange import ModeSpec
from paddle._fleet.errors import BadStrategy
from paddle._program import modes
from paddle._program.description.options import BuildStrategy, ExecutionStrategy
from paddle._program.runtime_config import DistributedMode, ServerRuntimeConfig, TrainerRuntimeConfig
from paddle._program.transpiler_config import DistributeTranspilerConfig
from paddle._program.upstream_flags import cpu_count

Options = TypeVar("Options")


class DistributedStrategy:
    """What all of them have."""

    sync_mode = False
    waits: int | None = None
    """The DistributedMode."""

    def __init__(self) -> None:
        self._program_config = DistributeTranspilerConfig()
        self._program_config.sync_mode = self.sync_mode
        self._trainer_runtime_config = TrainerRuntimeConfig()
        self._trainer_runtime_config.mode = self.waits
        self._server_runtime_config = ServerRuntimeConfig()
        self._execute_strategy = ExecutionStrategy()
        self._build_strategy = BuildStrategy()

    def _mode(self, sync_mode: bool) -> ModeSpec:
        raise NotImplementedError(type(self).__name__)

    def get_program_config(self) -> DistributeTranspilerConfig:
        """How programs are transpiled."""
        return self._program_config

    def set_program_config(self, config: Any) -> None:
        """Set it: a DistributeTranspilerConfig, or a dict of some of its fields."""
        self._program_config = _with("program_config", self._program_config, config)

    def get_trainer_runtime_config(self) -> TrainerRuntimeConfig:
        """Numbers of a trainer's sending threads."""
        return self._trainer_runtime_config

    def set_trainer_runtime_config(self, config: Any) -> None:
        """Set them: a TrainerRuntimeConfig, or a dict of some of them."""
        if isinstance(config, TrainerRuntimeConfig):
            self._trainer_runtime_config = config
            config.mode = self.waits
            return
        if not isinstance(config, Mapping):
            raise TypeError("trainer_runtime_config only accept input type: dict or TrainerRuntimeConfig")
        self._trainer_runtime_config.update(config)

    def get_server_runtime_config(self) -> ServerRuntimeConfig:
        """Numbers of a server's threads."""
        return self._server_runtime_config

    def set_server_runtime_config(self, config: Any) -> None:
        """Set them: a ServerRuntimeConfig, or a dict of some of them."""
        self._server_runtime_config = _with("server_runtime_config", self._server_runtime_config, config)

    def get_debug_opt(self) -> dict[str, Any]:
        """What is dumped: nothing."""
        return {}

    def set_debug_opt(self, opt_info: Mapping[str, Any] | None) -> None:
        """Refuse to dump anything."""
        if opt_info:
            raise NotInThisRelease(
                f"set_debug_opt({dict(opt_info)!r}) is not in this release: nothing is dumped. Fetch what "
                "you want to see, or leave it out"
            )

    def get_execute_strategy(self) -> ExecutionStrategy:
        """How a graph is run."""
        return self._execute_strategy

    def set_execute_strategy(self, config: Any) -> None:
        """Set it: an ExecutionStrategy, or a dict of some of its options."""
        self._execute_strategy = _with("execute_strategy", self._execute_strategy, config)

    def get_build_strategy(self) -> BuildStrategy:
        """How a graph is built."""
        return self._build_strategy

    def set_build_strategy(self, config: Any) -> None:
        """Set it: a BuildStrategy, or a dict of some of its options."""
        self._build_strategy = _with("build_strategy", self._build_strategy, config)


def _with(what: str, held: Options, given: Any) -> Options:
    """``given`` where it is such options, else those that are held with what the dict says."""
    if isinstance(given, type(held)):
        return given
    kind = type(held).__name__
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} only accept input type: dict or {kind}")
    for name, value in given.items():
        if name not in vars(held):
            raise BadStrategy(f"{kind} doesn't have key: {name}; it has {', '.join(vars(held))}")
        setattr(held, name, value)
    return held


class SyncStrategy(DistributedStrategy):
    """A step waits for all trainers."""

    sync_mode = True
    waits = DistributedMode.SYNC

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        self._program_config._check_in_step()
        return modes.in_step()


class AsyncStrategy(DistributedStrategy):
    """No trainer waits."""

    waits = DistributedMode.ASYNC

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        return self._program_config._out_of_step(self._trainer_runtime_config.merged(1))


class HalfAsyncStrategy(DistributedStrategy):
    """No trainer waits; of one, the gradients of as many steps as CPU_NUM says are merged, or of as many as
    ``max_merge_var_num`` where somebody has said that."""

    waits = DistributedMode.HALF_ASYNC

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        return self._program_config._out_of_step(self._trainer_runtime_config.merged(cpu_count()))


class GeoStrategy(DistributedStrategy):
    """Trainers update by themselves and meet every ``update_frequency`` steps."""

    waits = DistributedMode.GEO

    def __init__(self, update_frequency: int = 100) -> None:
        super().__init__()
        if not isinstance(update_frequency, int) or update_frequency < 1:
            raise BadStrategy(
                f"GeoStrategy: update_frequency is a number of steps from 1, not {update_frequency!r}"
            )
        self._program_config.geo_sgd_mode = True
        self._program_config.geo_sgd_need_push_nums = update_frequency

    @property
    def update_frequency(self) -> int:
        """In how many steps they meet once."""
        return self._program_config.geo_sgd_need_push_nums

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        return modes.geo(self.update_frequency, said="GeoStrategy: update_frequency")


class StrategyFactory:
    """Makes strategies."""

    @staticmethod
    def create_sync_strategy() -> SyncStrategy:
        """A step waits for all trainers."""
        return SyncStrategy()

    @staticmethod
    def create_half_async_strategy() -> HalfAsyncStrategy:
        """No trainer waits; gradients of several steps of one are merged."""
        return HalfAsyncStrategy()

    @staticmethod
    def create_async_strategy() -> AsyncStrategy:
        """No trainer waits."""
        return AsyncStrategy()

    @staticmethod
    def create_geo_strategy(update_frequency: int = 100) -> GeoStrategy:
        """Trainers meet every ``update_frequency`` steps."""
        return GeoStrategy(update_frequency)
