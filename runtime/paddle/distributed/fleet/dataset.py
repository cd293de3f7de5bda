"""Datasets of files."""

from paddle._absent import absent
from paddle._data.dataset import DatasetBase, InMemoryDataset, QueueDataset
from paddle._data.setters import DatasetFactory, FileInstantDataset

__all__ = [
    "BoxPSDataset",
    "DatasetBase",
    "DatasetFactory",
    "FileInstantDataset",
    "InMemoryDataset",
    "QueueDataset",
]

BoxPSDataset = absent("paddle.distributed.fleet.BoxPSDataset", "it trains on BoxPS, which is not open")
