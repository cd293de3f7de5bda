"""Where data sets are kept, how they get there, and how samples are spread over files and trainers.

It must never know what is in a data set. Guarantee: ``download`` returns the path of a file with the md5 sum
asked for (or, with ``PADDLE_DATASET_LOCAL=1``, of the file that is there) or raises; a file is never half
there.

Environment: ``PADDLE_DATASET_HOME`` is the first value of ``DATA_HOME``; ``PADDLE_DATASET_LOCAL=1`` takes the
files under ``DATA_HOME`` as they are, whatever their checksum, and downloads nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import shutil
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from paddle._recordio.chunks import write_records
from paddle._recordio.samples import encode

__all__ = ["DATA_HOME", "cluster_files_reader", "convert", "download", "fetch_all", "md5file", "split"]

DATA_HOME = os.environ.get("PADDLE_DATASET_HOME") or str(Path("~/.cache/paddle/dataset").expanduser())
"""The directory of all data sets. Programs may assign another."""

_RETRY_LIMIT = 3
_CONNECT_TIMEOUT_S = 5.0

Reader = Callable[[], Iterator[Any]]


def md5file(fname: str | Path) -> str:
    """Return the md5 sum of a file, in hexadecimal."""
    with Path(fname).open("rb") as f:
        return hashlib.file_digest(f, "md5").hexdigest()


def download(url: str, module_name: str, md5sum: str | None, save_name: str | None = None) -> str:
    """Return the path of ``DATA_HOME/module_name/NAME``, downloaded from ``url`` unless it is there.

    Its md5 sum must be ``md5sum``, where one is said; a download with another is tried again, three times in
    all. Raises RuntimeError with what to do by hand where that does not help or there is no network.
    """
    path = Path(DATA_HOME, module_name, save_name or url.rpartition("/")[2])
    if os.environ.get("PADDLE_DATASET_LOCAL", "0") not in ("", "0"):
        if path.exists():
            return str(path)
        raise RuntimeError(
            _by_hand(url, path, md5sum, "PADDLE_DATASET_LOCAL is set, and the file is not there")
        )
    downloads = 0
    while not (path.exists() and md5sum in (None, md5file(path))):
        if downloads == _RETRY_LIMIT:
            reason = f"the file has md5 {md5file(path)} after {downloads} downloads"
            raise RuntimeError(_by_hand(url, path, md5sum, reason))
        downloads += 1
        try:
            _transfer(url, path)
        except OSError as error:
            raise RuntimeError(_by_hand(url, path, md5sum, f"{type(error).__name__}: {error}")) from None
    return str(path)


def fetch_all() -> None:
    """Download every data set of this release."""
    from paddle import dataset  # it is made of modules that import this one

    for name in dataset.__all__:
        if fetch := getattr(getattr(dataset, name), "fetch", None):
            fetch()


def _transfer(url: str, path: Path) -> None:
    """Bring ``url`` to ``path``, which appears only when all of it is there; else nothing is left."""
    print(f"Downloading {url} to {path}", file=sys.stderr, flush=True)  # stdout may be a program's data
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    with urllib.request.urlopen(url, timeout=_CONNECT_TIMEOUT_S) as source:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("wb") as target:
                shutil.copyfileobj(source, target)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
            with suppress(OSError):  # others' files, or this one, are in it
                path.parent.rmdir()


def _by_hand(url: str, path: Path, md5sum: str | None, reason: str) -> str:
    return (
        f"Cannot download {url} ({reason}). Without a network, fetch the file on another machine and put it "
        f"at {path} (md5 {md5sum or 'not said'}). To use a file of your own in its place, put it there and "
        "set PADDLE_DATASET_LOCAL=1: files are then taken as they are, whatever their md5. "
        "PADDLE_DATASET_HOME, or assigning paddle.dataset.common.DATA_HOME, moves the directory."
    )


def split(
    reader: Reader,
    line_count: int,
    suffix: str = "%05d.pickle",
    dumper: Callable[[list[Any], IO[bytes]], None] = pickle.dump,
) -> None:
    """Write a reader's samples into files of ``line_count`` samples each, in the current directory.

    ``suffix`` is the files' path, with ``%d`` for their number; ``dumper(samples, file)`` writes one.
    """
    if not callable(dumper):
        raise TypeError("dumper must be a callable that takes a list of samples and a file")
    samples = iter(reader())
    for number in itertools.count():
        part = list(itertools.islice(samples, line_count))
        if not part:
            return
        with Path(suffix % number).open("wb") as f:
            dumper(part, f)


def cluster_files_reader(
    files_pattern: str, trainer_count: int, trainer_id: int, loader: Callable[[IO[bytes]], Any] = pickle.load
) -> Reader:
    """Make a reader of one trainer's files: each ``trainer_count``-th of those that match, sorted.

    ``loader(file)`` returns the samples of one file, as ``split`` wrote them. The default unpickles: read
    only files that you trust.
    """
    if not callable(loader):
        raise TypeError("loader must be a callable that takes a file and returns its samples")

    def reader() -> Iterator[Any]:
        pattern = Path(files_pattern)
        files = sorted(Path(pattern.anchor or ".").glob(str(pattern.relative_to(pattern.anchor))))
        for path in files[trainer_id::trainer_count]:
            with path.open("rb") as f:
                yield from loader(f)

    return reader


def convert(output_path: str | Path, reader: Reader, line_count: int, name_prefix: str) -> None:
    """Write a reader's samples into RecordIO files ``output_path/name_prefix-%05d`` of ``line_count`` each.

    Samples are numbers, texts, lists, tuples, dicts and numpy arrays; others raise BadRecord. Nothing is
    pickled, so that whoever reads the files runs nothing that they say. A file is never half there.
    """
    if line_count < 1:
        raise ValueError(f"line_count is {line_count}, but a file has at least 1 sample")
    folder = Path(output_path)
    folder.mkdir(parents=True, exist_ok=True)
    samples = iter(reader())
    for number in itertools.count():
        part = list(itertools.islice(samples, line_count))
        if not part:
            return
        path = folder / f"{name_prefix}-{number:05d}"
        partial = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with partial.open("wb") as f:
                write_records(f, map(encode, part))
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
