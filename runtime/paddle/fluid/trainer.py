"""Trainer: trains what two functions describe, here or on a cluster, as the environment says.

The role comes from the environment (0.14's variables, and those of the other generations): without any the
process trains by itself. It must never know an operator. Guarantees: events come in the documented order;
a parameter server ends when its trainers have left; training that was broken off goes on from
the youngest whole checkpoint, number 0 included, on a cluster all trainers from the same one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._complaint import tell_uncaught
from paddle._launch.environ import ClusterEnvironment, read_first
from paddle._program.description import unique_name
from paddle._program.description.guards import program_guard
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.files.checkpoints import (
    check_is_shared,
    clean_checkpoint,
    forget_numbers,
    get_latest_checkpoint_serial,
    load_checkpoint,
    load_trainer_args,
    save_checkpoint,
)
from paddle._program.files.inference import save_inference_model
from paddle._program.files.variables import load_persistables, save_persistables
from paddle._program.running.executor import Executor
from paddle._program.running.scope import Scope, scope_guard
from paddle.fluid.data_feeder import DataFeeder
from paddle.fluid.transpiler import DistributeTranspiler

__all__ = [
    "BeginEpochEvent",
    "BeginStepEvent",
    "CheckpointConfig",
    "EndEpochEvent",
    "EndStepEvent",
    "Trainer",
    "build_feed_var_list",
    "check_and_get_place",
]

_NUMBERS = ("epoch_id", "step_id")
_DIALECTS = ("fluid", "fleet", "cloud", "fluid-0.12")
Reader = Callable[[], Iterator[Sequence[Any]]]


class _Metric(np.float64):
    """A number of numpy, as programs ask it for ``mean()``, and in a list as numbers of numpy were when they
    were written: ``[0.5]``."""

    __slots__ = ()
    __repr__ = float.__repr__


class BeginEpochEvent:
    """Pass number ``epoch`` begins."""

    def __init__(self, epoch_id: int) -> None:
        self.epoch = epoch_id


class EndEpochEvent:
    """Pass number ``epoch`` is over."""

    def __init__(self, epoch_id: int) -> None:
        self.epoch = epoch_id


class BeginStepEvent:
    """Step ``step`` of pass ``epoch`` begins. ``fetch_metrics``: set it False where nobody needs them."""

    def __init__(self, epoch_id: int, step_id: int) -> None:
        self.epoch, self.step = epoch_id, step_id
        self.fetch_metrics = True


class EndStepEvent:
    """It is over. ``metrics``: an array for each output of ``train_func``."""

    def __init__(self, epoch_id: int, step_id: int, metrics: list[Any]) -> None:
        self.epoch, self.step, self.metrics = epoch_id, step_id, metrics


class CheckpointConfig:
    """When checkpoints are written, to the folder ``checkpoint_dir``, the current one if None: after every
    ``step_interval`` steps of every ``epoch_interval`` passes; the last ``max_num_checkpoints`` are kept.
    Trainers of a cluster share the folder."""

    def __init__(
        self,
        checkpoint_dir: str | None = None,
        max_num_checkpoints: int = 3,
        epoch_interval: int = 1,
        step_interval: int = 10,
    ) -> None:
        for name, value in (("epoch_interval", epoch_interval), ("step_interval", step_interval)):
            if not isinstance(value, int) or value < 1:
                raise BadArgument(f"CheckpointConfig: {name} is 1 or more, not {value!r}")
        self.checkpoint_dir = os.getcwd() if checkpoint_dir is None else checkpoint_dir  # noqa: PTH109
        self.max_num_checkpoints = max_num_checkpoints
        self.epoch_interval, self.step_interval = epoch_interval, step_interval
        self.epoch_id, self.step_id = 0, -1  # the last step that is in the values
        self.load_serial: int | None = None
        self.pserver_id: int | None = None
        self.lookup_table_name: str | None = None

    def _is_due(self, epoch: int, step: int) -> bool:
        return epoch % self.epoch_interval == 0 and step % self.step_interval == 0


class Trainer:
    """``train_func()`` builds the network and returns its loss, or a list of that and metrics;
    ``optimizer_func()`` gives the optimizer. ``param_path``: a folder of values to begin with. ``parallel``
    changes nothing: a plan uses the machine as it can."""

    def __init__(
        self,
        train_func: Callable[[], Any],
        optimizer_func: Callable[[], Any],
        param_path: str | None = None,
        place: Any = None,
        parallel: bool = False,
        checkpoint_config: CheckpointConfig | None = None,
    ) -> None:
        tell_uncaught()
        if checkpoint_config is not None and not isinstance(checkpoint_config, CheckpointConfig):
            raise BadArgument(f"checkpoint_config is a CheckpointConfig, not {checkpoint_config!r}")
        self.parallel, self.place, self.checkpoint_cfg = parallel, place, checkpoint_config
        self.trainer_id, self.scope = 0, Scope()
        self.startup_program, self.train_program = Program(), Program()
        self._stops = False
        self._is_server = False
        self._saved = 0
        self.train_func_outputs = self._build(train_func, optimizer_func)
        self._take_role(_role())
        self.exe = Executor(place)
        if checkpoint_config is not None:
            self._find_checkpoint(checkpoint_config)
        with self._within():
            self.exe.run(self.startup_program)
            if self._is_server:
                return
            if checkpoint_config is not None and checkpoint_config.load_serial is not None:
                folder = checkpoint_config.checkpoint_dir
                load_checkpoint(self.exe, folder, checkpoint_config.load_serial, self.train_program)
            elif param_path:
                load_persistables(self.exe, param_path, self.train_program)

    def _build(self, train_func: Callable[[], Any], optimizer_func: Callable[[], Any]) -> list[Variable]:
        with unique_name.guard(), program_guard(self.train_program, self.startup_program):
            given = train_func()
            outputs = list(given) if isinstance(given, list | tuple) else [given]
            if not outputs or not all(isinstance(each, Variable) for each in outputs):
                raise BadArgument(f"train_func returns a loss, or a list of it and metrics, not {given!r}")
            self.test_program = self.train_program.clone(for_test=True)
            optimizer = optimizer_func()
            if not hasattr(optimizer, "minimize"):
                raise TypeError(f"The optimizer should be an instance of Optimizer, not {optimizer!r}")
            optimizer.minimize(outputs[0])
        return outputs

    def _take_role(self, place: ClusterEnvironment) -> None:
        if place.role == "LOCAL":
            return
        self.trainer_id = place.trainer_id
        transpiler = DistributeTranspiler()
        transpiler.transpile(
            place.trainer_id,
            program=self.train_program,
            startup_program=self.startup_program,
            pservers=",".join(place.pservers),
            trainers=place.trainers,
        )
        if place.role == "PSERVER":
            self._is_server = True
            own = f"{place.host}:{place.port}"
            self.train_program, self.startup_program = transpiler.get_pserver_programs(own)
        else:
            self.train_program = transpiler.get_trainer_program()

    def train(
        self,
        num_epochs: int,
        event_handler: Callable[[Any], None],
        reader: Reader | None = None,
        feed_order: Any = None,
    ) -> None:
        """Train over ``num_epochs`` passes of the batches of ``reader()``; ``feed_order``: the names of the
        data layers in the order of a sample's fields.

        A parameter server serves instead until its trainers have left, and ends its process with 0: in the
        original it never returned, so what follows in a program is written for trainers.
        """
        with self._within():
            if self._is_server:
                self.exe.run(self.train_program)
                raise SystemExit(0)
            if reader is None:
                raise BadArgument(
                    "Trainer.train needs a reader: a callable that returns an iterator of batches"
                )
            feeder = DataFeeder(build_feed_var_list(self.train_program, feed_order), self.place)
            self._train(num_epochs, event_handler, reader, feeder)

    def _train(
        self, num_epochs: int, handler: Callable[[Any], None], reader: Reader, feeder: DataFeeder
    ) -> None:
        config, self._stops = self.checkpoint_cfg, False
        first = 0 if config is None else config.epoch_id
        for epoch in range(first, num_epochs):
            handler(BeginEpochEvent(epoch))
            for step, batch in enumerate(reader()):
                if self._stops:
                    return self._over()
                if config is not None and (epoch, step) <= (config.epoch_id, config.step_id):
                    continue
                self._step(epoch, step, feeder.feed(batch), handler)
            handler(EndEpochEvent(epoch))
            if self._stops:
                break
        return self._over()

    def _step(self, epoch: int, step: int, feed: Any, handler: Callable[[Any], None]) -> None:
        begins = BeginStepEvent(epoch, step)
        handler(begins)
        wanted = self.train_func_outputs if begins.fetch_metrics else []
        metrics = self.exe.run(self.train_program, feed=feed, fetch_list=wanted)
        config = self.checkpoint_cfg
        if config is not None and config._is_due(epoch, step):
            self._save_checkpoint(config, epoch, step)
        handler(EndStepEvent(epoch, step, metrics))

    def _over(self) -> None:
        """What a checkpoint was for has ended well."""
        if self.checkpoint_cfg is None:
            return
        if self.trainer_id == 0:
            clean_checkpoint(self.checkpoint_cfg.checkpoint_dir)
        else:
            forget_numbers(self.checkpoint_cfg.checkpoint_dir, self.trainer_id)

    def stop(self) -> None:
        """Leave ``train`` before the next step."""
        self._stops = True

    def test(self, reader: Reader, feed_order: Any = None) -> list[Any]:
        """The outputs of ``train_func``, each the mean over the batches of ``reader()``, of one with several
        rows that of the first row; nothing is learned."""
        if self._is_server:
            raise BadArgument("Trainer.test is called by trainers: this process is a parameter server")
        names = [each.name for each in self.train_func_outputs]
        with self._within():
            feeder = DataFeeder(build_feed_var_list(self.test_program, feed_order), self.place)
            found = [
                self.exe.run(self.test_program, feed=feeder.feed(batch), fetch_list=names)
                for batch in reader()
            ]
        if not found:
            raise BadArgument("the reader given to Trainer.test yielded no batch")
        return [_mean(values) for values in zip(*found, strict=True)]

    def save_params(self, param_path: str) -> None:
        """Write the parameters to the folder ``param_path``, as ``Inferencer`` reads them."""
        self._check_trains("save_params")
        with self._within():
            save_persistables(self.exe, param_path, main_program=self.train_program)

    def save_inference_model(
        self, param_path: str, feeded_var_names: Sequence[str], target_var_indexes: Sequence[int]
    ) -> None:
        """Write the network from these data layers to these outputs of ``train_func``, with its values."""
        self._check_trains("save_inference_model")
        targets = [self.train_func_outputs[index].name for index in target_var_indexes]
        block = self.test_program.global_block()
        with self._within():
            save_inference_model(
                param_path,
                list(feeded_var_names),
                [block.var(name) for name in targets],
                self.exe,
                main_program=self.test_program,
            )

    def _check_trains(self, what: str) -> None:
        if self._is_server:
            raise BadArgument(f"Trainer.{what} is called by trainers: this process is a parameter server")

    @contextmanager
    def _within(self) -> Iterator[None]:
        with program_guard(self.train_program, self.startup_program), scope_guard(self.scope):
            yield

    # Checkpoints.

    def _find_checkpoint(self, config: CheckpointConfig) -> None:
        if self._is_server:
            return
        if self.trainer_id:
            check_is_shared(config.checkpoint_dir, self.trainer_id)
        serial = get_latest_checkpoint_serial(config.checkpoint_dir)
        if serial >= 0:
            config.load_serial, self._saved = serial, serial + 1
            numbers = load_trainer_args(config.checkpoint_dir, serial, 0, _NUMBERS)
            config.epoch_id, config.step_id = map(int, numbers)

    def _save_checkpoint(self, config: CheckpointConfig, epoch: int, step: int) -> None:
        """All trainers save after the same steps, so each counts for itself."""
        save_checkpoint(
            self.exe,
            config.checkpoint_dir,
            trainer_id=self.trainer_id,
            main_program=self.train_program,
            trainer_args={"epoch_id": epoch, "step_id": step},
            max_num_checkpoints=config.max_num_checkpoints,
            serial=self._saved,
        )
        self._saved += 1


def build_feed_var_list(program: Program, feed_order: Any) -> list[Variable]:
    """The data layers in the order of a sample's fields: names, or a dict from names to places; None: as
    they were declared."""
    block = program.global_block()
    if feed_order is None:
        return [each for each in block.vars.values() if each.is_data]
    if isinstance(feed_order, Mapping):
        if sorted(feed_order.values()) != list(range(len(feed_order))):
            raise BadArgument(f"feed_order: the places of {feed_order} are not 0 to {len(feed_order) - 1}")
        feed_order = sorted(feed_order, key=lambda name: int(feed_order[name]))
    if not isinstance(feed_order, list | tuple):
        raise BadArgument(
            f"feed_order is a list of names, or a dict from names to places, not {feed_order!r}"
        )
    return [block.var(name) for name in feed_order]


def check_and_get_place(place: Any) -> Any:
    """The place to compute on; there is one."""
    return place


def _mean(values: Sequence[Any]) -> Any:
    """Of the first rows, as the original: an output may have a row of each sample, and batches differ."""
    total = np.mean([np.atleast_1d(np.asarray(each, np.float64))[0] for each in values], axis=0)
    return _Metric(total.reshape(-1)[0]) if total.size == 1 else total


def _role() -> ClusterEnvironment:
    """What the environment says that this process is."""
    if os.environ.get("PADDLE_TRAINER_IPS"):
        raise NotInThisRelease(
            "PADDLE_TRAINER_IPS asks for collective training on GPUs, which is not in this release: unset "
            "it, and name parameter servers (PADDLE_TRAINING_ROLE, PADDLE_PSERVER_IPS, PADDLE_TRAINERS)"
        )
    return read_first(os.environ, _DIALECTS)
