"""DistributeTranspiler: of one program those of the trainers and of the parameter servers.

Programs show what the original's show: gradients sent, parameters received, updates done by servers. What
they mean when they are run is the exchange of this runtime: trainers declare parameters and their rule, and
shards keep and place them (docs/decisions/0069).

It must never know how a program is run. Guarantee: trainers that transpile one program with the same
arguments declare the same job.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from paddle._program import calls
from paddle._program.carrier import Carrier, Cluster, Onlooker, Unnumbered, number_of_none
from paddle._program.description.guards import default_main_program, default_startup_program
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.errors import BadArgument
from paddle._program.files.beginnings import Beginning
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.lowering.updates import UPDATES, groups
from paddle._program.runtime_config import DistributedMode, ServerRuntimeConfig
from paddle._program.transpiler_config import DistributeTranspilerConfig
from paddle._program.upstream_flags import told as told_flag
from paddle._program.writing.scheduling import count_for_all
from paddle.fluid._listed import lacking
from paddle.fluid.transpiler.blocks import VarBlock, slice_variable
from paddle.fluid.transpiler.ps_dispatcher import HashName, PSDispatcher, RoundRobin
from paddle.fluid.transpiler.server_program import Served, server_program, server_startup
from paddle.fluid.transpiler.trainer_program import distributed_table, rewrite

__all__ = [
    "DistributeTranspiler",
    "DistributeTranspilerConfig",
    "DistributedMode",
    "HashName",
    "RoundRobin",
    "ServerRuntimeConfig",
    "VarBlock",
    "slice_variable",
]


def _also_as_in_0_12(transpile: Callable[..., None]) -> Callable[..., None]:
    """0.11 and 0.12 begin with what ``minimize`` gave."""

    @wraps(transpile)
    def either(self: DistributeTranspiler, *given: Any, **named: Any) -> None:
        self._is_unnumbered = False
        if "optimize_ops" in named or (given and isinstance(given[0], Sequence)):
            given, named = (), _of_0_12(*given, **named)
            self._is_unnumbered = named["trainer_id"] is None and named["trainers"] > 1
            named["trainer_id"] = int(named["trainer_id"] or 0)
        first = given[0] if given else named.get("trainer_id")
        if not isinstance(first, int):
            raise BadArgument(f"transpile begins with a trainer's number, and not {first!r}")
        transpile(self, *given, **named)

    return either


def _of_0_12(
    optimize_ops: Sequence[Operator],
    params_grads: Sequence[Any],
    trainer_id: int | str | None = None,
    program: Program | None = None,
    pservers: str = "127.0.0.1:6174",
    trainers: int = 1,
    split_method: Any = None,
) -> dict[str, Any]:
    """Arguments of today. 0.11 says no ``trainer_id``: PADDLE_TRAINER_ID does. Of what its ``split_method``
    may be, which are functions, there is the first: an endpoint after the other."""
    if not (optimize_ops and all(isinstance(each, Operator) for each in optimize_ops)):
        raise BadArgument(
            "transpile begins with a trainer's number, or with the updates that minimize gave, and not "
            f"{optimize_ops!r}"
        )
    if trainer_id is None:
        trainer_id = told_flag("PADDLE_TRAINER_ID") or told_flag("PADDLE_INIT_TRAINER_ID")
    return {
        "trainer_id": trainer_id,
        "program": program or optimize_ops[0].block.program,
        "pservers": pservers,
        "trainers": trainers,
    }


class DistributeTranspiler:
    """See the module's text. ``config``: a DistributeTranspilerConfig."""

    def __init__(self, config: DistributeTranspilerConfig | None = None) -> None:
        self.config = config or DistributeTranspilerConfig()
        if self.config.split_method is None:
            self.config.split_method = RoundRobin
        if not issubclass(self.config.split_method, PSDispatcher):
            raise BadArgument(f"split_method is a PSDispatcher, not {self.config.split_method!r}")
        self._served: Served | None = None
        self._beginnings: dict[str, Beginning] = {}
        self._is_unnumbered = False

    @_also_as_in_0_12
    def transpile(
        self,
        trainer_id: int,
        program: Program | None = None,
        pservers: str = "127.0.0.1:6174",
        trainers: int = 1,
        sync_mode: bool = True,
        startup_program: Program | None = None,
        current_endpoint: str = "127.0.0.1:6174",
        slice_var_up: bool | None = None,
        split_method: type[PSDispatcher] | None = None,
    ) -> None:
        """Make ``program``, the default one if None, trainer ``trainer_id``'s of a job of ``trainers`` with
        ``pservers``, a list ``host:port,host:port``. ``sync_mode``: a step waits for all trainers, and counts
        the mean of their gradients; otherwise each gradient counts when it comes. A program without an
        optimizer is computed as it is, and servers keep nothing of it. A server may have any number.

        0.12 gives what ``minimize`` gave, the updates and pairs of parameters and gradients, before all of
        these, and 0.11 does without the number, which is then said by PADDLE_TRAINER_ID."""
        config = self.config
        config.slice_var_up = config.slice_var_up if slice_var_up is None else bool(slice_var_up)
        config.split_method = split_method or config.split_method or RoundRobin
        self.sync_mode = bool(sync_mode and config.sync_mode)
        self.trainer_id, self.trainer_num = trainer_id, trainers
        self.origin_program = default_main_program() if program is None else program
        self.startup_program = default_startup_program() if startup_program is None else startup_program
        self.pserver_endpoints = _listed(pservers)
        moved = _updates(self.origin_program)
        self.table_name = distributed_table(self.origin_program)
        self.has_distributed_lookup_table = self.table_name is not None
        cluster = self._cluster()
        self._served = Served.of(
            self.origin_program,
            moved,
            config.split_method(self.pserver_endpoints),
            least=config.min_block_size,
            slices=len(self.pserver_endpoints) if config.slice_var_up else 1,
            trainers=trainers,
            sync=self.sync_mode,
        )
        self._beginnings = {}
        self.param_grad_ep_mapping = self._served.by_endpoint()
        count_for_all(self.origin_program, cluster.mode, trainers)
        rewrite(self.origin_program, self.startup_program, self._served, trainer_id)
        self._carry(cluster, is_trained=bool(moved))

    def _cluster(self) -> Cluster:
        """The job. A server's own number may be none of a trainer."""
        return Cluster(
            endpoints=tuple(self.pserver_endpoints),
            trainers=self.trainer_num,
            trainer_id=0 if self._is_no_trainers() else self.trainer_id,
            mode=self.config._mode(self.sync_mode),
        )

    def _is_no_trainers(self) -> bool:
        number, count = self.trainer_id, self.trainer_num
        whole = isinstance(number, int) and isinstance(count, int)
        return whole and count > 0 and not 0 <= number < count

    def _carry(self, cluster: Cluster, *, is_trained: bool) -> None:
        if self._is_no_trainers():
            complaint = number_of_none(self.trainer_id, self.trainer_num)
            self.origin_program._carrier = Unnumbered(cluster, complaint)
            return
        self.origin_program._carrier = Carrier(cluster) if is_trained else Onlooker(cluster)
        if (told_flag("TRAINING_ROLE") or told_flag("PADDLE_TRAINING_ROLE")) == "TRAINER":
            self._warn_servers_if_it_fails()

    def _warn_servers_if_it_fails(self) -> None:
        """This process is a trainer: servers would wait for one that fails before its first step."""
        program, served = self.origin_program, self._known()

        def declared() -> list[Any]:
            updates = [each.update for each in served.kept]
            found = groups(program.global_block(), updates, sparse_tables(program))
            return [group.parameters for group in found]

        program._carrier.decline_at_end(declared, only_failed=True)

    def get_trainer_program(self, wait_port: bool = True) -> Program:
        """The program of a trainer, to be run where the startup program was: the one that was transpiled."""
        self._known()
        if isinstance(self.origin_program._carrier, Unnumbered):
            raise BadArgument(self.origin_program._carrier.complaint)
        if self._is_unnumbered:
            raise BadArgument(
                f"transpile(optimize_ops, params_grads, ..., trainers={self.trainer_num}), as 0.11 has it, "
                "says no trainer's number, and trainers are numbered here: set PADDLE_TRAINER_ID, from 0 to "
                f"{self.trainer_num - 1}, in the environment of each"
            )
        self._warn_servers_if_it_fails()
        if self.trainer_id == 0 and self.origin_program._carrier.meets_commands:
            _warn_of_servers_part()
        return self.origin_program

    def get_pserver_program(self, endpoint: str) -> Program:
        """The program of the parameter server at ``endpoint``. Running it returns when the trainers have
        left."""
        program = server_program(self._known(), self._own(endpoint))
        program._beginning = self._beginning(endpoint)
        return program

    def get_pserver_programs(self, endpoint: str) -> tuple[Program, Program]:
        """That and its startup program."""
        program = self.get_pserver_program(endpoint)
        return program, self.get_startup_program(endpoint, program)

    def get_startup_program(
        self,
        endpoint: str,
        pserver_program: Program | None = None,
        startup_program: Program | None = None,
    ) -> Program:
        """What a parameter server runs before its program. First values come from trainer 0: this declares
        what the server has of the parameters, and gives the server's own variables theirs."""
        origin = startup_program or self.startup_program
        program = server_startup(self._known(), self._own(endpoint), origin)
        program._beginning = self._beginning(endpoint)
        return program

    def _beginning(self, endpoint: str) -> Beginning:
        """What the server begins with, which its programs have in common."""
        found = self._beginnings.get(endpoint)
        if found is None:
            found = self._beginnings[endpoint] = self._known().beginning(endpoint)
        return found

    def _known(self) -> Served:
        if self._served is None:
            raise BadArgument("call transpile(...) before asking a DistributeTranspiler for programs")
        return self._served

    def _own(self, endpoint: str) -> str:
        if endpoint not in self.pserver_endpoints:
            known = ", ".join(self.pserver_endpoints)
            raise BadArgument(f"{endpoint!r} is none of the parameter servers of this job: {known}")
        return endpoint


def _listed(pservers: str | Sequence[str]) -> list[str]:
    several = pservers.split(",") if isinstance(pservers, str) else list(pservers)
    found = [each.strip() for each in several if each.strip()]
    if not found:
        raise BadArgument("pservers names no parameter server: give their endpoints, 'host:port,host:port'")
    return found


def _warn_of_servers_part() -> None:
    if found := calls.loaded_by_servers():
        warnings.warn(
            f"{found}: what its servers load is not loaded in this job, whose servers are `paddle pserver`s "
            "and no process of this program. To begin from the folder, have trainer 0 load it, too, behind "
            "its startup program: fluid.io.load_persistables(exe, folder)",
            stacklevel=3,
        )


def _updates(program: Program) -> list[Operator]:
    found = [op for op in program.global_block().ops if op.type in UPDATES]
    if not found:
        warnings.warn(
            "the program that is transpiled updates no parameter, so servers keep nothing, and each trainer "
            "computes for itself: to train it, call optimizer.minimize(loss) before transpile",
            stacklevel=3,
        )
    return found


__getattr__ = lacking(__name__)
