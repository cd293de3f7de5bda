"""Writes what a reader gives to RecordIO files, which ``fluid.layers.open_files`` reads: as up to 1.5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from paddle._program.errors import BadArgument
from paddle._program.files.records import RecordIOWriter

__all__ = ["convert_reader_to_recordio_file", "convert_reader_to_recordio_files"]

Batches = Callable[[], Iterable[Any]]
_SNAPPY = RecordIOWriter.Compressor.Snappy


@contextmanager
def create_recordio_writer(
    filename: str | Path, compressor: RecordIOWriter.Compressor = _SNAPPY, max_num_records: int = 1000
) -> Iterator[RecordIOWriter]:
    """A writer of a file, which is closed behind the block."""
    writer = RecordIOWriter(filename, compressor, max_num_records)
    yield writer
    writer.close()


def convert_reader_to_recordio_file(
    filename: str | Path,
    reader_creator: Batches,
    feeder: Any,
    compressor: RecordIOWriter.Compressor = _SNAPPY,
    max_num_records: int = 1000,
    feed_order: Sequence[str] | None = None,
) -> int:
    """Write each batch that ``reader_creator()`` gives, as ``feeder`` feeds it, as a record: how many there
    are. ``feed_order``: the names of the variables in the order in which they are written."""
    return _written(Path(filename), reader_creator(), feeder, feed_order, compressor, max_num_records)


def convert_reader_to_recordio_files(
    filename: str,
    batch_per_file: int,
    reader_creator: Batches,
    feeder: Any,
    compressor: RecordIOWriter.Compressor = _SNAPPY,
    max_num_records: int = 1000,
    feed_order: Sequence[str] | None = None,
) -> int:
    """The same in files of ``batch_per_file`` batches each: of ``name.recordio`` they are
    ``name-00000.recordio`` and so on. The last has what is left; the original left that out."""
    path = Path(filename)
    if path.suffix != ".recordio":
        raise BadArgument(f"files of records end in .recordio, not as {filename}")
    rest = iter(reader_creator())
    return sum(
        _written(
            path.with_name(f"{path.stem}-{number:05d}.recordio"),
            batches,
            feeder,
            feed_order,
            compressor,
            max_num_records,
        )
        for number, batches in enumerate(iter(lambda: list(islice(rest, batch_per_file)), []))
    )


def _written(
    path: Path,
    batches: Iterable[Any],
    feeder: Any,
    feed_order: Sequence[str] | None,
    compressor: RecordIOWriter.Compressor,
    max_num_records: int,
) -> int:
    names = feeder.feed_names if feed_order is None else feed_order
    count = 0
    with create_recordio_writer(path, compressor, max_num_records) as writer:
        for batch in batches:
            fed = feeder.feed(batch)
            for name in names:
                writer.append_tensor(fed[name])
            writer.complete_append_tensor()
            count += 1
    return count
