"""Numbers of threads and queues that programs of 1.x tell trainers and servers.

It must never know a strategy. Guarantee: a number is known by both its names, that of 1.8
(``communicator_send_queue_size``) and that of 1.7 (``send_queue_size``); one that there is not is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program.errors import BadArgument
from paddle._program.upstream_flags import MERGED, cpu_count, merged_steps
from paddle._program.upstream_flags import told as told_flag

_PREFIX = "communicator_"
_OF_CPUS = (
    MERGED,
    "FLAGS_communicator_send_queue_size",
    "FLAGS_communicator_min_send_grad_num_before_recv",
)
_USUAL = {
    "FLAGS_communicator_independent_recv_thread": 1,
    "FLAGS_communicator_thread_pool_size": 5,
    "FLAGS_communicator_send_wait_times": 5,
    "FLAGS_communicator_is_sgd_optimizer": 1,
    "FLAGS_rpc_deadline": 180000,
    "FLAGS_rpc_retry_times": 3,
}
_MERGED = _PREFIX + "max_merge_var_num"
_POOL = (_PREFIX + "thread_pool_size", _PREFIX + "send_wait_times")
_OF_BATCHES = (_MERGED, *_POOL, _PREFIX + "send_queue_size")
_RPC_THREADS = 12


class DistributedMode:
    """How trainers of 1.8 wait for each other."""

    SYNC, ASYNC, HALF_ASYNC, GEO = range(4)


_SHOWN: dict[int | None, tuple[str, ...]] = {
    DistributedMode.SYNC: _OF_BATCHES,
    DistributedMode.HALF_ASYNC: _OF_BATCHES,
    DistributedMode.GEO: _POOL,
}


class TrainerRuntimeConfig:
    """Numbers of a trainer's sending threads. ``communicator_max_merge_var_num`` is heeded where no trainer
    waits. ``mode``: the DistributedMode, by which they are shown."""

    def __init__(self) -> None:
        self.mode: int | None = None
        usual = {**dict.fromkeys(_OF_CPUS, cpu_count()), **_USUAL}
        self.runtime_configs = {
            flag.removeprefix("FLAGS_"): told_flag(flag) or str(value) for flag, value in usual.items()
        }
        self._begun = dict(self.runtime_configs)

    def update(self, given: Mapping[str, Any]) -> None:
        """Take numbers by either name."""
        for name, value in given.items():
            known = name if name in self.runtime_configs else _PREFIX + name
            if known not in self.runtime_configs:
                raise BadArgument(
                    f"TrainerRuntimeConfig has no {name!r}; it has {', '.join(self.runtime_configs)}"
                )
            self.runtime_configs[known] = str(value)

    def __setattr__(self, name: str, value: Any) -> None:
        if _PREFIX + name in vars(self).get("runtime_configs", ()):
            self.update({name: value})
        super().__setattr__(name, value)

    def merged(self, usual: int) -> int:
        """Of how many steps gradients are merged: as many as the program or a flag says, else ``usual``."""
        said = self.runtime_configs[_MERGED]
        told = said != self._begun[_MERGED] or told_flag(MERGED) is not None
        return merged_steps(usual, str(said) if told else None)

    def get_communicator_flags(self) -> dict[str, str]:
        """Those that the mode has a use for, all where there is none."""
        return {name: str(self.runtime_configs[name]) for name in _SHOWN.get(self.mode, self.runtime_configs)}

    def display(self, configs: Mapping[str, Any]) -> str:
        """Say them."""
        return "\n".join(f"{name}: {value}" for name, value in configs.items())

    def __repr__(self) -> str:
        return self.display(self.get_communicator_flags())


class ServerRuntimeConfig:
    """Numbers of a server's threads: kept."""

    def __init__(self) -> None:
        for name in ("rpc_send_thread_num", "rpc_get_thread_num", "rpc_prefetch_thread_num"):
            setattr(self, f"_{name}", int(told_flag(f"FLAGS_{name}") or _RPC_THREADS))
