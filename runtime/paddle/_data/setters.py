"""Datasets as fluid spells them: ``DatasetFactory().create_dataset(...)``, and one setter for each setting.

It must never read a file itself. Guarantee: what is made is what 2.x's names make.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import AbsentName, NotInThisRelease, absent
from paddle._data import dataset

__all__ = ["DatasetBase", "DatasetFactory", "FileInstantDataset", "InMemoryDataset", "QueueDataset"]


_VIEWS = "samples are the slots of use_var alone, and no page views"
_ABSENT = {
    **dict.fromkeys(
        (
            *("set_parse_logkey", "set_merge_by_sid", "set_enable_pv_merge", "set_current_phase"),
            *("preprocess_instance", "postprocess_instance", "get_pv_data_size"),
        ),
        _VIEWS,
    ),
    **dict.fromkeys(
        ("set_generate_unique_feasigns", "generate_local_tables_unlock"),
        "servers have the rows of tables, and make them when a batch asks for them",
    ),
}


class DatasetBase(dataset.DatasetBase):
    """The setters of both."""

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT:
            raise AbsentName(f"Dataset.{name} is not in this release: {_ABSENT[name]}.")
        raise AttributeError(f"a dataset has no {name!r}", name=name, obj=self)

    def set_batch_size(self, batch_size: int) -> None:
        """Samples in a batch."""
        self._settings.set_batch_size(batch_size)

    def set_thread(self, thread_num: int) -> None:
        """How many threads read, and train where ``train_from_dataset`` does not say."""
        self._settings.set_threads(thread_num)

    def set_use_var(self, var_list: Sequence[Any]) -> None:
        """The variables that a line fills, in its order."""
        self._settings.set_use_var(var_list)

    def set_pipe_command(self, pipe_command: str) -> None:
        """What each file's lines go through, by a shell."""
        self._settings.set_pipe_command(pipe_command)

    def set_input_type(self, input_type: int) -> None:
        """Kept as it is."""
        self._settings.input_type = input_type

    def set_hdfs_config(self, fs_name: str, fs_ugi: str) -> None:
        """Of files elsewhere, which ``set_filelist`` refuses: the machine's own have no use for it."""
        self._settings.set_file_system(fs_name, fs_ugi)

    def set_download_cmd(self, download_cmd: str) -> None:
        """``cat``: files are read where they are."""
        self._own_settings(download_cmd=download_cmd)

    def set_rank_offset(self, rank_offset: str) -> None:
        """Of page views, which samples are not held as."""
        raise NotInThisRelease(f"Dataset.set_rank_offset: {_VIEWS}")

    def set_pv_batch_size(self, pv_batch_size: int) -> None:
        """Of page views, which samples are not held as."""
        raise NotInThisRelease(f"Dataset.set_pv_batch_size: {_VIEWS}")

    def set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        """Before ``slots_shuffle``, which draws from all samples, whatever ``record_candidate_size``."""
        self._own_settings(fea_eval=fea_eval, candidate_size=record_candidate_size)


class QueueDataset(DatasetBase, dataset.QueueDataset):
    """See paddle.distributed.QueueDataset."""


class InMemoryDataset(DatasetBase, dataset.InMemoryDataset):
    """See paddle.distributed.InMemoryDataset."""

    def set_feed_type(self, data_feed_type: str) -> None:
        """Which of upstream's readers reads the lines, which all say the same."""
        self._own_settings(data_feed_type=data_feed_type)

    def set_queue_num(self, queue_num: int) -> None:
        """How upstream's channels are cut; there are none."""

    def set_fleet_send_batch_size(self, fleet_send_batch_size: int = 1024) -> None:
        """How upstream's global shuffle is cut; here a trainer's samples travel at once."""

    def set_fleet_send_sleep_seconds(self, fleet_send_sleep_seconds: int = 0) -> None:
        """Nobody sleeps."""

    def set_parse_ins_id(self, parse_ins_id: bool) -> None:
        """Whether a line begins with ``1 ID``, the id of its sample, which is read over."""
        self._own_settings(parse_ins_id=parse_ins_id)

    def set_parse_content(self, parse_content: bool) -> None:
        """Whether ``1 CONTENT`` comes before the slots, which is read over."""
        self._own_settings(parse_content=parse_content)

    def set_merge_by_lineid(self, merge_size: int = 2) -> None:
        """Lines have no ids here."""
        self._own_settings(merge_by_lineid=True)


class FileInstantDataset(QueueDataset):
    """Upstream's name for a QueueDataset that reads without a queue."""


_MADE = {made.__name__: made for made in (QueueDataset, InMemoryDataset, FileInstantDataset)}
_LATER = {"BoxPSDataset": absent("fluid.BoxPSDataset", "it trains on BoxPS, which is not open")}


class DatasetFactory:
    """``create_dataset("QueueDataset")``, or "InMemoryDataset", or "FileInstantDataset"."""

    def create_dataset(self, datafeed_class: str = "QueueDataset") -> Any:
        """Raises ValueError for another name."""
        if datafeed_class in _LATER:
            return _LATER[datafeed_class]()
        if datafeed_class not in _MADE:
            raise ValueError(f"datafeed class {datafeed_class} does not exist; there are {', '.join(_MADE)}")
        return _MADE[datafeed_class]()
