"""Fleet as 1.x had it: the same jobs, where the programs that are trained are fleet's own.

It must never know a strategy's face: one is whatever says its mode. Guarantee: programs of 1.x mean here what
those of 2.x mean; what 1.x had and nothing here stands for is refused by name.
"""

from __future__ import annotations

from typing import Any

from paddle._engine.exchange import ModeSpec
from paddle._fleet.absent_names import OLDER, refuse
from paddle._fleet.errors import BadStrategy, TooEarly
from paddle._fleet.fleet import Fleet
from paddle._fleet.optimizer import DistributedOptimizer
from paddle._program import modes
from paddle._program.running.executor import Executor


class OlderOptimizer(DistributedOptimizer):
    """A distributed optimizer whose ``minimize`` has the arguments of 1.x."""

    def minimize(
        self,
        losses: Any,
        scopes: Any = None,
        startup_programs: Any = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        startup_program: Any = None,
    ) -> Any:
        """As the inner one's. ``scopes`` may be left out: it is the current one."""
        start = startup_programs if startup_program is None else startup_program
        return super().minimize(losses, start, parameter_list, no_grad_set)


class OlderFleet(Fleet):
    """One process's. A table with a height is saved as a file like others, which any program loads."""

    _spreads = False

    def init(self, role_maker: Any = None, *others: Any, **named: Any) -> Fleet:
        """Say who this process is; without a role maker, or with an executor in its place, as programs of
        pslib have it, the environment does."""
        return super().init(None if isinstance(role_maker, Executor) else role_maker, *others, **named)

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> OlderOptimizer:
        """The optimizer of the job. ``strategy``: of StrategyFactory, a DistributeTranspilerConfig, or None,
        to train in step."""
        _ = self.role_maker
        self._strategy, self._optimizer = strategy, optimizer
        return OlderOptimizer(optimizer, strategy, self._placed)

    def _mode(self, program: Any) -> ModeSpec:
        return told(self._strategy)

    def _check_strategy(self) -> None:
        told(self._strategy)

    def init_server(self, model_dir: str | None = None) -> None:  # type: ignore[override]
        """Prepare to serve. ``model_dir``: what ``save_persistables`` of fleet or of fluid.io wrote, to begin
        from all of it, whatever workers begin with. What a server's process loads behind it
        (``fluid.io.load_vars`` of ``main_program`` or ``startup_program``) counts as well."""
        super().init_server(model_dir)
        if self._workers is not None and model_dir:
            self._workers.serve_arrays_from(model_dir)
        if self._workers is not None:
            self._workers.begin_with_what_is_loaded(self.startup_program)

    @property
    def main_program(self) -> Any:
        """The program that workers train."""
        return self._minimized("main_program")[0]

    @property
    def startup_program(self) -> Any:
        """The program that gives its parameters their first values."""
        from paddle._program.description.guards import default_startup_program

        return self._minimized("startup_program")[1] or default_startup_program()

    _origin_program = main_program

    def _minimized(self, what: str) -> tuple[Any, Any]:
        if not self._programs:
            raise TooEarly(f"fleet.{what} needs fleet.distributed_optimizer(...).minimize(loss) before it")
        return self._programs[-1]

    def split_files(self, files: list[str]) -> list[str]:
        """This worker's part of ``files``."""
        return list(self.util.get_file_shard(files))

    def all_reduce_worker(self, input: Any, output: Any, mode: str = "sum") -> None:
        """Write what all workers give together into ``output``."""
        self.role_maker.all_reduce_worker(input, output, mode)

    def to_string(self) -> str:
        """Say who this is in a line."""
        return self.role_maker.to_string()

    def __getattr__(self, name: str) -> Any:
        refuse(self, "fluid.incubate.fleet.parameter_server: fleet", OLDER, name)


def told(strategy: Any) -> ModeSpec:
    """The mode that a strategy of 1.x says."""
    if strategy is None:
        return modes.in_step()
    own = getattr(strategy, "_mode", None)  # of the transpiler's configuration, and of StrategyFactory
    if not callable(own):
        raise BadStrategy(
            "fleet.distributed_optimizer: strategy is one of StrategyFactory.create_*_strategy() or a "
            f"DistributeTranspilerConfig, and not {strategy!r}"
        )
    found = own(strategy.sync_mode)
    assert isinstance(found, ModeSpec)
    return found
