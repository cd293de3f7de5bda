"""Loaders of what programs read, as fluid spells them."""

from __future__ import annotations

from paddle._data.collating import default_collate_fn, default_convert_fn
from paddle._program.reading.data_loader import DataLoader
from paddle._program.reading.loader import DatasetLoader, GeneratorLoader, PyReader
from paddle.fluid._listed import lacking

__all__ = [
    "DataLoader",
    "DatasetLoader",
    "GeneratorLoader",
    "PyReader",
    "default_collate_fn",
    "default_convert_fn",
]

__getattr__ = lacking(__name__)
