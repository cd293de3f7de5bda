"""Strategies of 1.x: StrategyFactory and what it makes.

It must never know a fleet. Guarantee: each says the mode that its name says, and begins with the options that
it has in the original; settings of the original's threads and queues are kept, and change nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from paddle._engine.exchange import ModeSpec
from paddle._fleet.errors import BadStrategy
from paddle._program import modes
from paddle._program.description.options import BuildStrategy, ExecutionStrategy
from paddle._program.transpiler_config import DistributeTranspilerConfig
from paddle._program.upstream_flags import MERGED, cpu_count, merged_steps
from paddle._program.upstream_flags import told as told_flag

_FLAGS = {
    "max_merge_var_num": MERGED,
    "send_queue_size": "FLAGS_communicator_send_queue_size",
    "independent_recv_thread": "FLAGS_communicator_independent_recv_thread",
    "min_send_grad_num_before_recv": "FLAGS_communicator_min_send_grad_num_before_recv",
    "thread_pool_size": "FLAGS_communicator_thread_pool_size",
    "send_wait_times": "FLAGS_communicator_send_wait_times",
    "is_sgd_optimizer": "FLAGS_communicator_is_sgd_optimizer",
    "rpc_deadline": "FLAGS_rpc_deadline",
    "rpc_retry_times": "FLAGS_rpc_retry_times",
}
_USUAL = {"independent_recv_thread": 1, "thread_pool_size": 5, "send_wait_times": 5, "is_sgd_optimizer": 0}
_USUAL |= {"rpc_deadline": 180000, "rpc_retry_times": 3}
_RPC_THREADS = 12
Options = TypeVar("Options")


class TrainerRuntimeConfig:
    """Numbers of a trainer's sending threads. ``max_merge_var_num`` is heeded where no trainer waits."""

    def __init__(self) -> None:
        threads = cpu_count()
        self.runtime_configs = {
            name: told_flag(flag) or str(_USUAL.get(name, threads)) for name, flag in _FLAGS.items()
        }

    def merged(self, usual: int) -> int:
        """Of how many steps gradients are merged: as many as the program or a flag says, else ``usual``."""
        said = vars(self).get("max_merge_var_num")
        return merged_steps(usual, None if said is None else str(said))

    def get_communicator_flags(self) -> dict[str, str]:
        """All of them."""
        return dict(self.runtime_configs)

    def display(self, configs: Mapping[str, Any]) -> str:
        """Say them."""
        return "\n".join(f"{name}: {value}" for name, value in configs.items())

    def __repr__(self) -> str:
        return self.display(self.runtime_configs)


class ServerRuntimeConfig:
    """Numbers of a server's threads: kept."""

    def __init__(self) -> None:
        for name in ("rpc_send_thread_num", "rpc_get_thread_num", "rpc_prefetch_thread_num"):
            setattr(self, f"_{name}", int(told_flag(f"FLAGS_{name}") or _RPC_THREADS))


class DistributedStrategy:
    """What all of them have."""

    sync_mode = False

    def __init__(self) -> None:
        self._program_config = DistributeTranspilerConfig()
        self._program_config.sync_mode = self.sync_mode
        self._trainer_runtime_config = TrainerRuntimeConfig()
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
            return
        if not isinstance(config, Mapping):
            raise TypeError("trainer_runtime_config only accept input type: dict or TrainerRuntimeConfig")
        for name, value in config.items():
            if name not in _FLAGS:
                raise BadStrategy(f"TrainerRuntimeConfig has no {name!r}; it has {', '.join(_FLAGS)}")
            setattr(self._trainer_runtime_config, name, value)
            self._trainer_runtime_config.runtime_configs[name] = str(value)

    def get_server_runtime_config(self) -> ServerRuntimeConfig:
        """Numbers of a server's threads."""
        return self._server_runtime_config

    def set_server_runtime_config(self, config: Any) -> None:
        """Set them: a ServerRuntimeConfig, or a dict of some of them."""
        self._server_runtime_config = _with("server_runtime_config", self._server_runtime_config, config)

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

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        return modes.in_step()


class AsyncStrategy(DistributedStrategy):
    """No trainer waits."""

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        return modes.out_of_step(self._trainer_runtime_config.merged(1))


class HalfAsyncStrategy(DistributedStrategy):
    """No trainer waits; of one, the gradients of as many steps as CPU_NUM says are merged, or of as many as
    ``max_merge_var_num`` where somebody has said that."""

    def _mode(self, sync_mode: bool) -> ModeSpec:
        self._program_config._check()
        return modes.out_of_step(self._trainer_runtime_config.merged(cpu_count()))


class GeoStrategy(DistributedStrategy):
    """Trainers update by themselves and meet every ``update_frequency`` steps."""

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
