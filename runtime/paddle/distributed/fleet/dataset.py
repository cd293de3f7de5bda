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
    "TreeIndex",
]

__path__: list[str] = []  # programs import it as fleet.dataset.dataset, too
BoxPSDataset = absent("paddle.distributed.fleet.BoxPSDataset", "it trains on BoxPS, which is not open")
TreeIndex = absent(
    "paddle.distributed.fleet.dataset.TreeIndex",
    "trees for recommendation are parameters of tdm_child and tdm_sampler here (paddle.fluid.contrib.layers)",
)
