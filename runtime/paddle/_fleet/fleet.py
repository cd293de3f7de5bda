"""Fleet: what one process of a job does, from ``init`` to ``stop_worker``.

Rules:

1.  ``init`` says who this process is; everything else needs it. Without a cluster one process does all, and
    what is for servers and for meeting others does nothing.
2.  ``minimize`` of a distributed optimizer says where the parameters of a program are kept. What servers and
    workers do needs it.
3.  ``init_worker`` meets the servers where the startup program has run, else the first step does: worker 0's
    values are the job's, the others take them.
4.  ``run_server`` returns when every worker has said goodbye, by ``stop_worker`` or by its end.

It must never know how values travel. Guarantee: a call that comes too early says which one is missing.
"""

from __future__ import annotations

import copy
import os
import warnings
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._complaint import tell_uncaught
from paddle._engine.exchange import ModeSpec
from paddle._fleet import modes, table_configs
from paddle._fleet.absent_names import LATER, refuse
from paddle._fleet.alone import Alone
from paddle._fleet.commands import are_commands, warn_of_servers_part
from paddle._fleet.errors import BadRole, BadStrategy, FleetError, TooEarly
from paddle._fleet.files import Files
from paddle._fleet.forewarning import tell_if_it_fails
from paddle._fleet.loading import Hastened, loads_later
from paddle._fleet.meeting import Meeting, meeting_of
from paddle._fleet.optimizer import DistributedOptimizer
from paddle._fleet.place import Role
from paddle._fleet.program_options import ProgramOptions
from paddle._fleet.role_makers import PaddleCloudRoleMaker, RoleMakerBase
from paddle._fleet.saving import warn_of_nobody_served, warn_of_nothing_loaded
from paddle._fleet.strategy import DistributedStrategy
from paddle._fleet.table_rules import TableRule
from paddle._fleet.together import UtilBase
from paddle._fleet.workers import Workers
from paddle._program.description.counted_tables import count
from paddle._program.running.scope import global_scope
from paddle._program.writing.scheduling import count_for_all, serve_rates


class Fleet(Files):
    """One process's. The faces have one each for the process."""

    def __init__(self) -> None:
        self._role_maker: RoleMakerBase | None = None
        self._strategy: Any = None
        self._workers: Workers | None = None
        self._seed_dir: str | None = None
        self._util: Any = None
        self._meeting: Meeting | Alone = Alone()
        self._optimizer: Any = None
        self._programs: list[tuple[Any, Any]] = []
        self._has_come = False

    def init(
        self,
        role_maker: RoleMakerBase | None = None,
        is_collective: bool = False,
        strategy: Any = None,
        log_level: Any = "INFO",
    ) -> Fleet:
        """Say who this process is; without a role maker the environment does. ``log_level`` is of the
        original's own talk."""
        tell_uncaught()
        if not isinstance(is_collective, bool):
            raise FleetError(f"fleet.init: is_collective is True or False, and not {is_collective!r}")
        if role_maker is None:
            role_maker = PaddleCloudRoleMaker(is_collective=is_collective)
        if not isinstance(role_maker, RoleMakerBase):
            raise FleetError(
                "fleet.init: role_maker should be subclass of RoleMakerBase, such as PaddleCloudRoleMaker(), "
                f"and not {role_maker!r}"
            )
        role_maker.generate_role()
        self._leave()
        self._role_maker = role_maker
        self._meet(role_maker)
        tell_if_it_fails(role_maker.place, self._is_known)
        self._strategy = DistributedStrategy() if strategy is None else strategy
        self._workers, self._seed_dir, self._util, self._programs = None, None, None, []
        self._has_come = False
        return self

    def _leave(self) -> None:
        """Say goodbye in the job of an ``init`` before."""
        if self._workers is not None and self._workers.carrier is not None:
            self._workers.carrier.close()

    def _meet(self, role_maker: RoleMakerBase) -> None:
        """Have the place where processes meet be there from now on, if this one holds it."""
        self._meeting.close()
        place = role_maker.place
        is_job = place.is_distributed and (place.workers > 1 or len(place.servers) > 1)
        found = meeting_of(place, os.environ, role_maker.meets_in) if is_job else None
        self._meeting = role_maker.meeting = found or Alone(place.workers - 1 if is_job else 0)

    def _is_known(self) -> bool:
        """Whether servers hear of this worker's end anyway."""
        carrier = None if self._workers is None else self._workers.carrier
        return self._has_come or (carrier is not None and carrier.has_begun)

    @property
    def role_maker(self) -> RoleMakerBase:
        """Who this process is."""
        if self._role_maker is None:
            raise TooEarly("fleet.init() comes before all else: it says who this process is")
        return self._role_maker

    _role = role_maker

    # Who this is, and who the others are.

    def is_first_worker(self) -> bool:
        """Whether this is worker 0."""
        return self.role_maker.is_first_worker()

    def worker_index(self) -> int:
        """Which worker this is."""
        return self.role_maker.worker_index()

    def worker_num(self) -> int:
        """How many workers there are."""
        return self.role_maker.worker_num()

    def node_num(self) -> int:
        """On how many machines they are."""
        return self.role_maker.node_num()

    def local_rank(self) -> int:
        """Which worker of this machine this is."""
        place = self.role_maker.place
        host = place.endpoint.rpartition(":")[0]
        return sum(each.rpartition(":")[0] == host for each in place.worker_endpoints[: place.id])

    def is_worker(self) -> bool:
        """Whether this is a worker."""
        return self.role_maker.is_worker()

    def worker_endpoints(self, to_string: bool = False) -> Any:
        """Those of the workers, as a list or separated by commas."""
        return _shown(self.role_maker.get_trainer_endpoints(), to_string)

    def server_num(self) -> int:
        """How many servers there are."""
        return self.role_maker.server_num()

    def server_index(self) -> int:
        """Which server this is."""
        return self.role_maker.server_index()

    def server_endpoints(self, to_string: bool = False) -> Any:
        """Those of the servers, as a list or separated by commas."""
        return _shown(self.role_maker.get_pserver_endpoints(), to_string)

    def is_server(self) -> bool:
        """Whether this is a server."""
        return self.role_maker.is_server()

    def is_coordinator(self) -> bool:
        """Whether it is one of federated learning, which there is none of."""
        return False

    def nranks(self) -> int:
        """How many workers there are."""
        return self.worker_num()

    rank, world_size, rank_in_node = worker_index, nranks, local_rank

    # What is trained.

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> DistributedOptimizer:
        """The optimizer of the job: ``optimizer``, with the parameters where ``strategy`` says."""
        _ = self.role_maker
        if strategy is not None:
            self._strategy = copy.deepcopy(strategy)
        self._optimizer = optimizer
        return DistributedOptimizer(optimizer, self._strategy, self._placed, self._awaited)

    def minimize(self, loss: Any, *others: Any, **named: Any) -> Any:
        """That of the distributed optimizer."""
        if self._optimizer is None:
            raise TooEarly(
                "fleet.minimize() needs fleet.distributed_optimizer(optimizer, strategy) before it"
            )
        made = DistributedOptimizer(self._optimizer, self._strategy, self._placed, self._awaited)
        return made.minimize(loss, *others, **named)

    def _awaited(self, program: Any) -> None:
        """Clips of the optimizer pass over tables that have a rule of their own, to which counts go."""
        if self._k_steps() > 0:
            return
        block = program.global_block()
        for table in filter(block.has_var, self._table_rules()):
            block.var(table).need_clip = False

    def _placed(self, program: Any, startup: Any) -> None:
        """Rule 2."""
        self._programs.append((program, startup))
        if not self.role_maker.place.is_distributed:
            self._check_strategy()
            self._count(program, is_local=self._k_steps() > 0)
            return
        mode = self._mode(program)
        if mode is not None:
            if self._workers is None:
                self._workers = Workers(self.role_maker.place, mode)
            if mode != self._workers.mode:
                raise BadStrategy(
                    f"fleet: a program before this one is trained in the mode {self._workers.mode.name}, "
                    f"and this one was to be in {mode.name}, by its strategy. The programs of a job have "
                    "one mode and its numbers: give distributed_optimizer() the same strategy for each"
                )
            program._fleet_opt = ProgramOptions(
                getattr(self._strategy, "trainer_desc_configs", {}),
                trainer="DistMultiTrainer",
                device_worker="DownpourLite",
                mpi_rank=self.role_maker.worker_index(),
            )
            self._count(program, is_local=mode.is_local)
            self._schedule(program, mode)
            self._workers.take(program)

    def _count(self, program: Any, *, is_local: bool) -> None:
        """Have tables be moved by rules of their own, where the strategy says such."""
        for table, told in self._table_rules().items():
            if is_local:
                warnings.warn(
                    f"fleet: workers of GEO move rows of {table!r} by the program's optimizer, as those of "
                    f"the original do; {table_configs.FIELD} change nothing.",
                    stacklevel=4,
                )
            elif count(program, table, told.options):
                told.check(table, program.global_block().var(table).shape[1])

    def _table_rules(self) -> dict[str, TableRule]:
        return table_configs.rules(getattr(self._strategy, table_configs.FIELD, {}))

    def _k_steps(self) -> int:
        return int(getattr(self._strategy, "a_sync_configs", {}).get("k_steps", 0))

    def _schedule(self, program: Any, mode: ModeSpec) -> None:
        """Have servers count what learning rates go by."""
        configs, workers = getattr(self._strategy, "a_sync_configs", {}), self.role_maker.worker_num()
        for text in serve_rates(program, mode, workers, configs.get("lr_decay_steps", 0)):
            warnings.warn(f"fleet: {text}.", stacklevel=4)
        count_for_all(program, mode, workers)

    def _mode(self, program: Any) -> Any:
        is_sgd = getattr(self._optimizer, "type", "") == "sgd"
        return modes.mode_of(
            self._strategy, is_sgd=is_sgd, values=modes.size_of(program), memory=_free_memory()
        )

    def _check_strategy(self) -> None:
        """Where one process does all no mode is asked for; what workers are refused, it is refused, too."""
        modes.check(self._strategy)

    def _met(self, what: str) -> Workers:
        if self._workers is None:
            _ = self.role_maker
            how = (
                "its strategy names no mode: set strategy.a_sync = True or False, or strategy.auto = True"
                if self._programs
                else "fleet.distributed_optimizer(optimizer, strategy).minimize(loss) comes before it"
            )
            raise TooEarly(f"Fleet can not find suitable runtime handler for fleet.{what}(): {how}.")
        return self._workers

    # What servers do.

    def init_server(self, dirname: str | None = None, var_names: Any = None) -> None:
        """Prepare to serve. ``dirname``: what ``save_persistables`` wrote, to begin from; ``var_names``: the
        tables in it that are meant. Where servers are commands workers call it, before ``init_worker``."""
        place = self.role_maker.place
        if not place.is_distributed:
            warn_of_nothing_loaded("init_server", dirname)
            return
        met = self._met("init_server")
        if place.role != Role.SERVER and dirname and not are_commands(place):
            raise BadRole(
                f"fleet.init_server({dirname!r}) is for servers, and this process is a worker "
                "(fleet.is_server()): "
                "nothing would be loaded. A worker loads dense parameters, by paddle.static.load_vars or "
                "fluid.io.load_persistables, before fleet.init_worker()"
            )
        met.serve_from(dirname, var_names)

    def run_server(self) -> None:
        """Serve until all workers have said goodbye; where one process does all there is nobody to serve."""
        place = self.role_maker.place
        if not place.is_distributed:
            warn_of_nobody_served()
            return
        if place.role != Role.SERVER:
            raise BadRole(
                "fleet.run_server() is for servers, and this process is a worker (fleet.is_server())"
            )
        self._met("run_server").serve()

    # What workers do.

    def init_worker(self, scopes: Any = None) -> None:
        """Meet the servers. ``scopes``: that of each program, which is the current one of all here."""
        if any(each is not global_scope() for each in scopes or ()):
            raise NotInThisRelease(
                "fleet.init_worker: programs with scopes of their own are not in this release; one scope for "
                "all is the current one: call it within paddle.static.scope_guard(scope)"
            )
        place = self.role_maker.place
        if place.is_distributed:
            met = self._met("init_worker")
            if not met.is_told and place.id == 0 and are_commands(place):
                warn_of_servers_part()
            self._has_come = True
            if place.id == 0 and not met.is_told and loads_later():
                met.come_later()
                role_maker = self.role_maker
                role_maker.meeting = Hastened(role_maker.meeting, met.hasten)
            else:
                met.begin()

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """That of ``util``, over workers."""
        return self.util.all_reduce(input, mode, "worker")

    def barrier_worker(self) -> None:
        """Wait until all workers have come here."""
        self.role_maker.barrier_worker()

    def stop_worker(self) -> None:
        """Say goodbye to the servers, which end when all have."""
        if self.role_maker.place.is_distributed:
            self._met("stop_worker").end()

    @property
    def util(self) -> Any:
        """What workers do together beside training."""
        if self._util is None:
            self._util = UtilBase(self.role_maker)
        return self._util

    def __getattr__(self, name: str) -> Any:
        refuse(self, "paddle.distributed.fleet", LATER, name)


def _shown(endpoints: list[str], to_string: bool) -> Any:
    return ",".join(endpoints) if to_string else endpoints


def _free_memory() -> int:
    from paddle._pserver.memory.memory import limit_bytes

    return limit_bytes()
