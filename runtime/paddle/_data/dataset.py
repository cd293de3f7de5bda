"""QueueDataset and InMemoryDataset, as 2.x spells them.

A dataset is asked for ``streams(n)``: n iterators over batches, one for each thread of who trains, that share
the samples. It must never know who trains. Guarantee: a pass gives each sample once, in one stream; with one
stream in the order of the files, or of the last shuffle. Shuffles draw from ``numpy.random``: a program that
seeds it trains on the same batches again.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._data.filelist import FileList
from paddle._data.records import Records
from paddle._data.settings import Settings
from paddle._data.spreading import spread

_log = logging.getLogger("paddle.dataset")

__all__ = ["DatasetBase", "InMemoryDataset", "QueueDataset"]


class DatasetBase:
    """What both have: ``init`` says what to read, ``set_filelist`` from where."""

    def __init__(self) -> None:
        self._settings = Settings()

    def init(
        self,
        batch_size: int = 1,
        thread_num: int = 1,
        use_var: Sequence[Any] = (),
        pipe_command: str = "cat",
        input_type: int = 0,
        fs_name: str = "",
        fs_ugi: str = "",
        download_cmd: str = "cat",
        **settings: Any,
    ) -> None:
        """``use_var``: variables of float32 and int64, in the order of a line's slots; those with a lod_level
        take any number of values. ``pipe_command``: each file's lines go through it, by a shell."""
        self._settings.set_batch_size(batch_size)
        self._settings.set_threads(thread_num)
        self._settings.set_use_var(use_var)
        self._settings.set_pipe_command(pipe_command)
        self._settings.input_type = input_type
        self._settings.set_file_system(fs_name, fs_ugi)
        self._own_settings(download_cmd=download_cmd, **settings)

    def _own_settings(self, **settings: Any) -> None:
        unknown = {name for name in settings if name not in ("download_cmd", "data_feed_type")}
        if unknown:
            _log.warning(
                "%s knows no setting %s: it is left out", type(self).__name__, ", ".join(sorted(unknown))
            )
        if settings.get("download_cmd", "cat") != "cat":
            raise NotInThisRelease("download_cmd: files are read where they are; put it into pipe_command")

    def _set_use_ps_gpu(self, use_ps_gpu: bool) -> None:
        """Programs of 2.6 say by it whether tables are on GPUs."""
        if use_ps_gpu:
            raise NotInThisRelease("tables on GPUs: servers keep them, and this release computes on CPUs")

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """The files of this trainer."""
        self._settings.set_filelist(filelist)

    def desc(self) -> str:
        """The settings as upstream's DataFeedDesc prints them."""
        return self._settings.text()

    @property
    def thread_num(self) -> int:
        """How many threads it was told to be read by."""
        return self._settings.threads

    @property
    def use_var(self) -> list[Any]:
        """The variables that a batch fills."""
        return self._settings.use_var

    def streams(self, many: int) -> list[Iterator[Records]]:
        """One iterator over batches for each of so many threads."""
        raise NotImplementedError


class QueueDataset(DatasetBase):
    """Files are read while they are trained on, and held nowhere."""

    def streams(self, many: int) -> list[Iterator[Records]]:
        """See DatasetBase."""
        settings = self._settings.checked()
        files = FileList(settings.read, settings.pipe_command, settings.slots)
        return [files.batches(settings.batch_size) for _ in range(max(1, min(many, len(settings.read))))]

    def local_shuffle(self) -> None:
        """Cannot be: samples are not held."""
        raise NotImplementedError(
            "a QueueDataset holds no samples that it could shuffle; use InMemoryDataset"
        )

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Cannot be: samples are not held."""
        raise NotImplementedError(
            "a QueueDataset holds no samples that it could shuffle; use InMemoryDataset"
        )


class InMemoryDataset(DatasetBase):
    """All samples are held, from ``load_into_memory`` to ``release_memory``."""

    def __init__(self) -> None:
        super().__init__()
        self._records: Records | None = None
        self._loading: Future[Records] | None = None
        self._evaluates = False
        self._shuffled = 0
        self._is_released = False

    def _own_settings(self, **settings: Any) -> None:
        for name in (
            "data_feed_type",
            "queue_num",
            "merge_size",
            "fleet_send_batch_size",
            "fleet_send_sleep_seconds",
        ):
            settings.pop(name, None)  # how upstream's channels are cut
        self._evaluates = bool(settings.pop("fea_eval", self._evaluates))
        settings.pop("candidate_size", None)
        self._settings.has_ids = bool(settings.pop("parse_ins_id", self._settings.has_ids))
        self._settings.has_contents = bool(settings.pop("parse_content", self._settings.has_contents))
        for name in ("enable_pv_merge", "merge_by_lineid"):
            if settings.pop(name, False):
                raise NotInThisRelease(f"InMemoryDataset: {name}; samples are the slots of use_var alone")
        super()._own_settings(**settings)

    def update_settings(self, **settings: Any) -> None:
        """Some of what ``init`` said, said anew."""
        told: dict[str, Callable[[Any], None]] = {
            "batch_size": self._settings.set_batch_size,
            "thread_num": self._settings.set_threads,
            "use_var": self._settings.set_use_var,
            "pipe_command": self._settings.set_pipe_command,
            "input_type": lambda value: None,
        }
        for name in [name for name in told if name in settings]:
            told[name](settings.pop(name))
        self._settings.set_file_system(settings.pop("fs_name", ""), settings.pop("fs_ugi", ""))
        self._own_settings(**settings)

    def _init_distributed_settings(self, **settings: Any) -> None:
        """The settings of 2.0's documents for what a job does with samples."""
        self._own_settings(**settings)

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read all files. Raises what is wrong with one of them; then nothing is held."""
        self._records, self._is_released = None, False
        self._records = self._read(self._settings.threads)
        if is_shuffle:
            self.local_shuffle()

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Begin to read all files, while the program goes on."""
        self._settings.checked()
        loading: Future[Records] = Future()
        threads = thread_num or self._settings.threads

        def load() -> None:
            try:
                loading.set_result(self._read(threads))
            except BaseException as error:
                loading.set_exception(error)

        self._loading, self._is_released = loading, False
        threading.Thread(target=load, name="preload", daemon=True).start()

    def wait_preload_done(self) -> None:
        """Until that has ended. Raises what was wrong with a file."""
        if self._loading is None:
            raise RuntimeError("wait_preload_done comes after preload_into_memory")
        loading, self._loading = self._loading, None
        self._records = loading.result()

    def local_shuffle(self) -> None:
        """The samples that this trainer holds, in another order."""
        held = self._held("local_shuffle")
        self._records = held.take(np.random.permutation(len(held)))

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Every sample to a trainer that chance says, and there to a place that chance says. Without
        ``fleet``, or where its workers do not speak to each other, this trainer's own."""
        held = self._held("global_shuffle")
        self._records = held = spread(held, fleet)
        self._shuffled = len(held)
        self.local_shuffle()

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """These slots alone get the values of other samples: what they are worth is what the model loses."""
        if not self._evaluates:
            raise RuntimeError(
                "slots_shuffle comes after set_fea_eval(record_candidate_size, True), or init(fea_eval=True)"
            )
        held = self._held("slots_shuffle")
        known = {slot.name for slot in held.slots}
        if lacking := sorted(set(slots) - known):
            raise ValueError(
                f"slots_shuffle: no slot {', '.join(lacking)}; there are {', '.join(sorted(known))}"
            )
        self._records = held.shuffled(slots, np.random.permutation(len(held)))

    def release_memory(self) -> None:
        """Hold nothing any more: training is then on no batch, and says so."""
        self._records, self._shuffled, self._is_released = None, 0, True

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """Samples held; with ``fleet`` by all its workers."""
        return _summed(len(self._records) if self._records is not None else 0, fleet)

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """Samples held since the last global shuffle."""
        return _summed(self._shuffled, fleet)

    def streams(self, many: int) -> list[Iterator[Records]]:
        """See DatasetBase; threads take batches in turns."""
        if self._records is None and self._is_released:
            warnings.warn(
                "an InMemoryDataset holds nothing after release_memory, so this pass trains on no batch: "
                "call load_into_memory again before it, or release_memory after the last pass",
                stacklevel=4,
            )
            nothing: tuple[Records, ...] = ()
            return [(each for each in nothing) for _ in range(many)]
        held = self._held("training")
        size = self._settings.batch_size
        begins = iter(range(0, len(held), size))
        turn = threading.Lock()

        def batches() -> Iterator[Records]:
            while True:
                with turn:
                    begin = next(begins, None)
                if begin is None:
                    return
                yield held.cut(begin, min(begin + size, len(held)))

        return [batches() for _ in range(many)]

    def _read(self, threads: int) -> Records:
        settings = self._settings.checked()
        return FileList(settings.read, settings.pipe_command, settings.slots, settings.labels).all(threads)

    def _held(self, who: str) -> Records:
        if self._records is None:
            raise RuntimeError(f"an InMemoryDataset holds nothing before load_into_memory, which {who} needs")
        return self._records


def _summed(samples: int, fleet: Any) -> int:
    if fleet is None:
        return samples
    return int(np.asarray(fleet.util.all_reduce(np.array([samples], np.int64), "sum"))[0])
