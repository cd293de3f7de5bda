"""What fleet writes to folders and goes on from: the values of a whole job, called for by a worker.

Rules:

1.  What is saved is what servers have at that moment. One worker is to call it.
2.  ``load_model`` is before training: worker 0 gives what is in a folder to the servers, as they begin. Where
    the program says it behind ``init_worker``, worker 0 comes to the servers then (loading.py).
3.  ``load_inference_model`` is for inference: a worker has a saved model in its own memory from then on, and
    trains no more. All workers call it, as often as there are models.
4.  A table's number is its place among the sparse parameters of a program, in the order in which they were
    made; the number behind the last is that of all dense ones together.
5.  The original's modes of saving, but 0, leave out rows: what has not changed (1) or is seldom seen (2).
    Here each is of all rows, which who reads such a folder takes as well, and a warning says so.

It must never know how values travel. Guarantee: no mode saves less than what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._fleet import saving
from paddle._fleet.errors import BadRole, FleetError
from paddle._fleet.place import Role
from paddle._fleet.role_makers import RoleMakerBase
from paddle._fleet.workers import Workers, shrink_here
from paddle._program.description.guards import default_main_program
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.running.executor import Executor

_MODES = range(6)  # of upstream's accessors
_UNSEEN_DAYS = 30  # after which the original's tables forget a row, where nobody says another number


class Files:
    """What ``Fleet`` derives from."""

    _spreads = True  # whether tables are saved in files of the servers, as 2.x and pslib have it
    _workers: Workers | None
    _programs: list[tuple[Any, Any]]
    util: Any

    @property
    def role_maker(self) -> RoleMakerBase:
        """Who this process is."""
        raise NotImplementedError

    def server_num(self) -> int:
        """How many servers there are."""
        raise NotImplementedError

    def _met(self, what: str) -> Workers:
        raise NotImplementedError

    # Rule 1.

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Write all that outlives a run, as the servers have it now. One worker is to call it. ``mode``: rule
        5."""
        self._check("save_persistables", mode, executor)
        saving.save_persistables(executor, dirname, self._meant(main_program), self._fetched())

    def save_inference_model(
        self,
        executor: Any,
        dirname: str,
        feeded_var_names: Any,
        target_vars: Any,
        main_program: Any = None,
        export_for_deployment: bool = True,
        mode: int = 0,
    ) -> None:
        """Write what computes ``target_vars`` of what is fed, with the values that the servers have now. One
        worker is to call it."""
        self._check("save_inference_model", mode, executor)
        servers = self._fetched()
        others = {"export_for_deployment": export_for_deployment}
        saving.save_inference_model(
            executor, dirname, feeded_var_names, target_vars, self._meant(main_program), servers, **others
        )

    def save(
        self, dirname: str, feed: Sequence[Any] = (), fetch: Sequence[Any] = (), *, mode: int = 0
    ) -> None:
        """Write an inference model where ``feed`` and ``fetch`` say of what, by variables or their names, and
        else all that outlives a run."""
        if not feed and not fetch:
            return self.save_persistables(Executor(), dirname, None, mode)
        block = self._meant(None).global_block()
        targets = [block.var(each) if isinstance(each, str) else each for each in fetch]
        fed = [getattr(each, "name", each) for each in feed]
        return self.save_inference_model(Executor(), dirname, fed, targets, mode=mode)

    def save_one_table(self, table_id: int, path: str, mode: int = 0) -> None:
        """Write one table (rule 4), as ``save_persistables`` does."""
        self._check("save_one_table", mode)
        program, name = self._table(table_id)
        saving.save_one(path, program, name, self._fetched())

    def save_dense_params(
        self, executor: Any, dirname: str, scope: Any, program: Any, var_names: Sequence[str] | None = None
    ) -> None:
        """Write dense parameters, all or those of ``var_names``, into one file, ``dirname``."""
        self._check("save_dense_params", 0, executor)
        self._fetched()
        saving.save_dense(executor, dirname, scope, self._whole(program), var_names)

    def check_save_pre_patch_done(self) -> None:
        """Wait for all workers. What one of them has saved is whole when its call comes back."""
        self.util.barrier()

    def shrink(self, threshold: int | None = None) -> None:
        """Have tables without a height forget rows that nobody has used in ``threshold`` days, 30 if None; a
        day ends with each call of worker 0, and the step that follows it. Others may call it, too."""
        days = _UNSEEN_DAYS if threshold is None else threshold
        if self.role_maker.place.is_distributed:
            self._met("shrink").shrink(days)
        else:
            shrink_here(days)

    # Rules 2 and 3.

    def load_model(self, path: str, mode: int = 0) -> None:
        """Have servers begin from what ``save_persistables`` or ``save_inference_model`` wrote."""
        if self._loads("load_model", path, mode):
            self._met("load_model").go_on_from(path, None)

    def load_one_table(self, table_id: int, path: str, mode: int = 0) -> None:
        """The same of one table (rule 4)."""
        if self._loads("load_one_table", path, mode):
            _, name = self._table(table_id)
            self._met("load_one_table").go_on_from(path, [name] if name else [])

    def load_inference_model(self, path: str, mode: int = 0) -> None:
        """Have this worker compute with what was saved in a folder, from now on."""
        if self._loads("load_inference_model", path, mode):
            self._met("load_inference_model").compute_from(path)

    def _loads(self, what: str, path: str, mode: int) -> bool:
        """Whether there is a job in which to load."""
        self._check(what, mode, level=5)
        if self.role_maker.place.is_distributed:
            return True
        saving.warn_of_nothing_loaded(what, path)
        return False

    def _check(self, what: str, mode: int, executor: Any = ..., level: int = 4) -> None:
        if executor is not ... and not isinstance(executor, Executor):
            raise TypeError(
                f"fleet.{what}: executor must be as Executor type, paddle.static.Executor(), and not "
                f"{executor!r}"
            )
        place = self.role_maker.place
        if place.is_distributed and place.role == Role.SERVER:
            raise BadRole(
                f"fleet.{what}() is for workers, and this process is a server (fleet.is_worker()): it has a "
                "part of the parameters, and the values of its own startup program. Call it in one worker"
            )
        if mode not in _MODES:
            raise FleetError(f"fleet.{what}: mode is a number from 0 to 5, and not {mode!r}")
        if mode != 0:
            saving.warn_of_all(what, mode, level)

    def _fetched(self) -> int:
        """In files of how many servers tables are saved, of which all values are here now; 0: of none."""
        if self._workers is None:
            return 0
        self._workers.fetch()
        return self.server_num() if self._spreads else 0

    def _meant(self, program: Any) -> Any:
        """The program that is saved where none is named: the default one, if it is trained, or the last that
        is."""
        trained = [each for each, _ in self._programs]
        if program is not None or not trained:
            return program
        default = default_main_program()
        return default if any(each is default for each in trained) else trained[-1]

    def _whole(self, program: Any) -> Any:
        """A program that is trained."""
        if program is None and self._programs:
            return self._programs[0][0]
        return default_main_program() if program is None else program

    def _table(self, table_id: int) -> tuple[Any, str | None]:
        """The program and the name of a table; None: of all dense parameters."""
        programs = [program for program, _ in self._programs] or [default_main_program()]
        found = [
            (program, each.name)
            for program in programs
            for each in program.all_parameters()
            if each.name in sparse_tables(program)
        ]
        if table_id == len(found):
            return programs[0], None
        if not 0 <= table_id < len(found):
            names = ", ".join(f"{number}: {name}" for number, (_, name) in enumerate(found))
            raise FleetError(
                f"fleet: there is no table {table_id!r}; there are {names}{names and ', '}{len(found)}: all "
                "dense parameters"
            )
        return found[table_id]
