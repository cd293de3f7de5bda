"""The client of the task queue that hands data out to trainers, which comes in a later release."""

from paddle._absent import absent

__all__ = ["client"]

client = absent(
    "paddle.v2.master.client",
    "the task queue that hands out data comes later. Give every trainer its own files, as "
    "paddle.dataset.common.cluster_files_reader does",
)
