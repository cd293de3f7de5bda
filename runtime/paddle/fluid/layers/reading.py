"""Readers as layers: what a program reads by itself."""

from __future__ import annotations

from paddle._absent import absent
from paddle._program.reading.opened import (
    batch,
    open_files,
    open_recordio_file,
    random_data_generator,
    shuffle,
)
from paddle._program.reading.variables import create_py_reader_by_data, double_buffer, py_reader, read_file

__all__ = [
    "Preprocessor",
    "batch",
    "create_py_reader_by_data",
    "double_buffer",
    "open_files",
    "open_recordio_file",
    "py_reader",
    "random_data_generator",
    "read_file",
    "shuffle",
]

Preprocessor = absent(
    "paddle.fluid.layers.Preprocessor",
    "readers are written in Python, paddle.reader and paddle.batch, and given to a py_reader",
)
