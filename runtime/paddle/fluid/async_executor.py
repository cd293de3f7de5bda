"""AsyncExecutor: fluid 1.1 to 1.5 trained on files with it, by several threads.

It must never train itself (an Executor does). Guarantee: as ``Executor.train_from_dataset``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from paddle._absent import AbsentName, NotInThisRelease
from paddle._data.dataset import QueueDataset
from paddle._data.records import Records
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program
from paddle._program.description.program import Program
from paddle._program.errors import BadArgument
from paddle._program.running.executor import Executor
from paddle.fluid.data_feed_desc import DataFeedDesc, DataSlot

__all__ = ["AsyncExecutor"]

_TYPES = {"uint64": VarType.INT64, "float": VarType.FP32}
_OF_MPI = frozenset(
    {"config_distributed_nodes", "download_data", "get_instance", "init_model", "init_server", "init_worker"}
    | {"save_model", "stop"}
)


class AsyncExecutor:
    """Trains a program on files, whose values are in the global scope: ``Executor(place).run(startup)`` comes
    before."""

    def __init__(self, place: Any = None, run_mode: str = "") -> None:
        self._executor = Executor(place)
        _check_mode(run_mode)

    def run(
        self,
        program: Program | None,
        data_feed: DataFeedDesc,
        filelist: str | Sequence[str],
        thread_num: int,
        fetch: Any,
        mode: str = "",
        debug: bool = False,
    ) -> None:
        """Train on all batches of the files, by ``thread_num`` threads. ``debug``: what ``fetch`` names is
        printed of each batch."""
        _check_mode(mode)
        program = default_main_program() if program is None else program
        if not isinstance(data_feed, DataFeedDesc):
            raise BadArgument(f"AsyncExecutor.run: data_feed is a DataFeedDesc, and not {data_feed!r}")
        files = [filelist] if isinstance(filelist, str) else list(filelist)
        several = list(fetch) if isinstance(fetch, list | tuple) else [fetch] if fetch is not None else []
        block = program.global_block()
        shown = [block.var(each) if isinstance(each, str) else each for each in several]
        dataset = _Described(data_feed, program)
        dataset.init(data_feed.batch_size, thread_num, dataset.described, data_feed.pipe_command)
        dataset.set_filelist(files)
        told: dict[str, Any] = {"fetch_list": shown, "print_period": 1} if debug else {}
        self._executor.train_from_dataset(program, dataset, thread=thread_num, **told)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_MPI:
            raise AbsentName(
                f"AsyncExecutor.{name} is not in this release: fluid.incubate.fleet has servers."
            )
        raise AttributeError(f"an AsyncExecutor has no {name!r}", name=name, obj=self)


def _check_mode(mode: str) -> None:
    if mode:
        raise NotInThisRelease(
            f"AsyncExecutor of mode {mode!r}: fluid.incubate.fleet has servers and workers"
        )


class _Column:
    """A slot that no variable of the program stands for."""

    def __init__(self, slot: DataSlot) -> None:
        self.name, self.dtype = slot.name, _TYPES[slot.type]
        self.lod_level, self.shape = int(not slot.is_dense), (-1, *slot.shape)


class _Described(QueueDataset):
    """Lines of all slots, of which the program is given those that it uses."""

    def __init__(self, feed: DataFeedDesc, program: Program) -> None:
        super().__init__()
        self._used = {slot.name for slot in feed.slots if slot.is_used}
        for slot in feed.slots:
            if slot.type not in _TYPES:
                raise BadArgument(f"slot {slot.name!r} is of 'uint64' or 'float', not of {slot.type!r}")
        block = program.global_block()
        self.described = [block.var(slot.name) if slot.is_used else _Column(slot) for slot in feed.slots]

    def streams(self, many: int) -> list[Iterator[Records]]:
        """See DatasetBase."""
        return [self._given(stream) for stream in super().streams(many)]

    def _given(self, stream: Iterator[Records]) -> Iterator[Records]:
        with closing(stream):  # type: ignore[type-var]
            for records in stream:
                pairs = zip(records.slots, records.columns, strict=True)
                used = [pair for pair in pairs if pair[0].name in self._used]
                slots, columns = zip(*used, strict=True)
                yield Records(slots, columns)
