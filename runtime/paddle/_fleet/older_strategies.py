"""Strategies of 1.x: StrategyFactory and what it makes.

It must never know a fleet. Guarantee: each says the mode that its name says; settings of the original's
threads and queues are kept, and change nothing here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from paddle._engine.exchange import ModeSpec
from paddle._fleet import modes
from paddle._fleet.errors import BadStrategy

_FLAGS = {
    "max_merge_var_num": "FLAGS_communicator_max_merge_var_num",
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


class TrainerRuntimeConfig:
    """Numbers of a trainer's sending threads. ``max_merge_var_num`` is heeded where no trainer waits."""

    def __init__(self) -> None:
        threads = os.environ.get("CPU_NUM", "1")
        self.runtime_configs = {
            name: os.environ.get(flag, str(_USUAL.get(name, threads))) for name, flag in _FLAGS.items()
        }

    @property
    def merged(self) -> int:
        """Of how many steps gradients are merged, where somebody said so."""
        text = self.runtime_configs["max_merge_var_num"] if _FLAGS["max_merge_var_num"] in os.environ else "1"
        text = str(vars(self).get("max_merge_var_num", text))
        if not text.isdecimal() or int(text) < 1:
            raise BadStrategy(f"{_FLAGS['max_merge_var_num']} is {text!r}: it must be a whole number from 1")
        return int(text)

    def get_communicator_flags(self) -> dict[str, str]:
        """All of them."""
        return dict(self.runtime_configs)

    def display(self, configs: Mapping[str, Any]) -> str:
        """Say them."""
        return "\n".join(f"{name}: {value}" for name, value in configs.items())

    def __repr__(self) -> str:
        return self.display(self.runtime_configs)


class DistributedStrategy:
    """What all of them have."""

    sync_mode = False

    def __init__(self) -> None:
        self._program_config: Any = None
        self._trainer_runtime_config = TrainerRuntimeConfig()
        self._execute_strategy: Any = None
        self._build_strategy: Any = None
        self._server_runtime_config: Any = None

    def _mode(self, sync_mode: bool) -> ModeSpec:
        raise NotImplementedError(type(self).__name__)

    def get_program_config(self) -> Any:
        """The transpiler's configuration that was set."""
        return self._program_config

    def set_program_config(self, config: Any) -> None:
        """Set it: a DistributeTranspilerConfig, or a dict of its fields."""
        self._program_config = config

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

    def get_server_runtime_config(self) -> Any:
        """What was set for servers."""
        return self._server_runtime_config

    def set_server_runtime_config(self, config: Any) -> None:
        """Set it."""
        self._server_runtime_config = config

    def get_execute_strategy(self) -> Any:
        """The ExecutionStrategy that was set."""
        return self._execute_strategy

    def set_execute_strategy(self, config: Any) -> None:
        """Set it."""
        self._execute_strategy = config

    def get_build_strategy(self) -> Any:
        """The BuildStrategy that was set."""
        return self._build_strategy

    def set_build_strategy(self, config: Any) -> None:
        """Set it."""
        self._build_strategy = config


class SyncStrategy(DistributedStrategy):
    """A step waits for all trainers."""

    sync_mode = True

    def _mode(self, sync_mode: bool) -> ModeSpec:
        return ModeSpec()


class AsyncStrategy(DistributedStrategy):
    """No trainer waits."""

    def _mode(self, sync_mode: bool) -> ModeSpec:
        return modes.of(k_steps=0, merged=self._trainer_runtime_config.merged, is_sgd=False)


class HalfAsyncStrategy(AsyncStrategy):
    """No trainer waits; the steps of one are merged."""


class GeoStrategy(DistributedStrategy):
    """Trainers update by themselves and meet every ``update_frequency`` steps."""

    def __init__(self, update_frequency: int = 100) -> None:
        super().__init__()
        if not isinstance(update_frequency, int) or update_frequency < 1:
            raise BadStrategy(
                f"GeoStrategy: update_frequency is a number of steps from 1, not {update_frequency!r}"
            )
        self.update_frequency = update_frequency

    def _mode(self, sync_mode: bool) -> ModeSpec:
        return ModeSpec(name="geo", k_steps=self.update_frequency)


class StrategyFactory:
    """Makes strategies."""

    @staticmethod
    def create_sync_strategy() -> SyncStrategy:
        """A step waits for all trainers."""
        return SyncStrategy()

    @staticmethod
    def create_half_async_strategy() -> HalfAsyncStrategy:
        """No trainer waits; the steps of one are merged."""
        return HalfAsyncStrategy()

    @staticmethod
    def create_async_strategy() -> AsyncStrategy:
        """No trainer waits."""
        return AsyncStrategy()

    @staticmethod
    def create_geo_strategy(update_frequency: int = 100) -> GeoStrategy:
        """Trainers meet every ``update_frequency`` steps."""
        return GeoStrategy(update_frequency)
