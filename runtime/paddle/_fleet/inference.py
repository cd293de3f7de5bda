"""Inference in a job: a test of what is trained, with parameters where they are kept.

It must never know how a parameter comes. Guarantee: an inference changes no parameter, and reads those that
the servers have now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._fleet.fleet import Fleet
from paddle._fleet.strategy import DistributedStrategy
from paddle._program.description.guards import default_main_program, default_startup_program
from paddle._program.files.tables import remembered
from paddle._program.files.variables import is_persistable, load_vars
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.writing.optimizers import SGDOptimizer


class DistributedInfer:
    """``main_program``: what is trained, or only computed; the default one if None. ``fleet`` gives this
    process's fleet."""

    def __init__(
        self, fleet: Callable[[], Fleet], main_program: Any = None, startup_program: Any = None
    ) -> None:
        self._fleet = fleet
        self._main = default_main_program() if main_program is None else main_program
        self._startup = default_startup_program() if startup_program is None else startup_program
        self.origin_main_program = self._main.clone()

    def init_distributed_infer_env(
        self, exe: Any, loss: Any, role_maker: Any = None, dirname: str | None = None
    ) -> None:
        """Meet the servers, or be one, where training has not done so: with the values of ``dirname``. A
        server serves until all workers have said goodbye."""
        fleet = self._fleet()
        if fleet._workers is not None:
            return
        fleet.init(role_maker)
        strategy = DistributedStrategy()
        strategy.a_sync = True
        fleet.distributed_optimizer(SGDOptimizer(learning_rate=0.0), strategy).minimize(loss, self._startup)
        if fleet.is_server():
            fleet.init_server(dirname)
            fleet.run_server()
            return
        exe.run(self._startup)
        if dirname:
            self._load(exe, dirname)
        fleet.init_worker()

    def get_dist_infer_program(self) -> Any:
        """What computes all that the main program does but gradients and updates."""
        return self._main.clone(for_test=True)

    def _load(self, exe: Any, dirname: str) -> None:
        """Dense parameters; servers load tables. A learning rate and its like are this run's."""
        held = sparse_tables(self._main) if self._fleet().server_num() else frozenset()
        wanted = {each.name for each in self.origin_main_program.list_vars() if is_persistable(each)}
        wanted -= held | remembered(self._main, held)
        load_vars(exe, dirname, self._main, predicate=lambda each: each.name in wanted)
