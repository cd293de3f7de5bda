"""The module ``recordio`` of the original's time, which came along with PaddlePaddle: programs read records
by it, and unpickle them themselves.

It must never unpickle. Guarantee: samples that were written here come as pickles of plain data; other records
come as they lie in the file.
"""

from __future__ import annotations

import glob
import pickle
from collections.abc import Iterator
from pathlib import Path

from paddle._recordio.chunks import MAX_CHUNK_BYTES, records_of, write_records
from paddle._recordio.samples import decode, is_sample

__all__ = ["reader", "writer"]


class reader:  # noqa: N801 - the original's spelling
    """The records of files. ``paths``: with or without wildcards, separated by commas."""

    def __init__(self, paths: str) -> None:
        files = [path for pattern in paths.split(",") for path in sorted(glob.glob(pattern))]  # noqa: PTH207
        if not files:
            raise FileNotFoundError(f"no RecordIO file matches {paths}")
        self._records: Iterator[bytes] = (record for path in files for record in records_of(path))

    def read(self) -> bytes | None:
        """The next record; None behind the last."""
        record = next(self._records, None)
        return pickle.dumps(decode(record), 2) if record is not None and is_sample(record) else record

    def close(self) -> None:
        """Read no more."""
        self._records = iter(())


class writer:  # noqa: N801
    """A file of records, which is whole when it is closed."""

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path).open("wb")  # noqa: SIM115 - until close
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def write(self, record: bytes | str) -> None:
        """Append a record."""
        self._waiting.append(record.encode() if isinstance(record, str) else bytes(record))
        self._waiting_bytes += len(self._waiting[-1])
        if self._waiting_bytes >= MAX_CHUNK_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what waits, and end the file."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        write_records(self._file, self._waiting)
        self._waiting, self._waiting_bytes = [], 0
