"""RecordIO files of tensors, as programs of fluid up to 1.5 wrote and read them: a record is the tensors of a
batch, after their number in 32 bits.

It must never know a program. Guarantee: what is written is read by the original, and its files here; a record
that is no such tensors is a BadFile that names the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from io import BytesIO
from pathlib import Path
from typing import Any

from paddle._engine.checkpoint import lod_tensor
from paddle._engine.errors import BadModelFile
from paddle._program.errors import BadArgument, BadFile, MissingFile
from paddle._program.files.tensors import bytes_of_several
from paddle._program.running.lod_tensor import LoDTensor
from paddle._recordio.chunks import records_of, write_fluid_chunk
from paddle._recordio.errors import RecordIOError

_COUNT = struct.Struct("<I")


def batches_of(path: str | Path) -> Iterator[list[LoDTensor]]:
    """The tensors of each record of a file."""
    try:
        for number, record in enumerate(records_of(path)):
            yield _tensors(path, number, record)
    except FileNotFoundError:
        raise MissingFile(f"there is no {path}, whose records would be read") from None
    except RecordIOError as error:
        raise BadFile(str(error)) from None


def _tensors(path: str | Path, number: int, record: bytes) -> list[LoDTensor]:
    count = _COUNT.unpack_from(record)[0] if len(record) >= _COUNT.size else -1
    try:
        found = [LoDTensor(*pair) for pair in lod_tensor.read_levels(BytesIO(record[_COUNT.size :]))]
    except BadModelFile as error:
        raise BadFile(f"{path}: record {number} holds other than tensors: {error}") from None
    if len(found) != count:
        raise BadFile(f"{path}: record {number} holds {len(found)} tensors and says that it holds {count}")
    return found


class RecordIOWriter:
    """A file of records, which is whole when it is closed. A chunk has at most ``max_num_records``; none is
    compressed, whatever ``compressor`` is, and every reader takes it."""

    class Compressor(IntEnum):
        """How chunks may be packed."""

        NoCompress = 0
        Snappy = 1

    def __init__(self, filename: str | Path, compressor: Compressor, max_num_records: int) -> None:
        if max_num_records < 1:
            raise BadArgument(f"a chunk has at least one record, and not {max_num_records}")
        self._file = Path(filename).open("wb")  # noqa: SIM115 - until close
        self._most = max_num_records
        self._tensors: list[LoDTensor] = []
        self._records: list[bytes] = []

    def append_tensor(self, tensor: Any) -> None:
        """Add a tensor to the record that is begun."""
        self._tensors.append(tensor if isinstance(tensor, LoDTensor) else LoDTensor(tensor))

    def complete_append_tensor(self) -> None:
        """End the record."""
        self._records.append(_COUNT.pack(len(self._tensors)) + bytes_of_several(self._tensors))
        self._tensors = []
        if len(self._records) >= self._most:
            self._flush()

    def close(self) -> None:
        """Write what waits, and end the file."""
        if self._tensors:
            raise BadArgument("a record was begun: end it by complete_append_tensor() before close()")
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        if self._records:
            write_fluid_chunk(self._file, self._records)
            self._records = []
