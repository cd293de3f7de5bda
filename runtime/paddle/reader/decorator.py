"""Reader decorators: a reader in, a reader out.

They must never know what a sample means. Guarantee: an error in a reader or a mapper reaches who iterates,
whichever thread it happened in.
"""

from __future__ import annotations

import itertools
import queue
import random
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from paddle.reader.pipe import PipeReader, pipe_reader

__all__ = [
    "ComposeNotAligned",
    "PipeReader",
    "buffered",
    "cache",
    "chain",
    "compose",
    "firstn",
    "map_readers",
    "multiprocess_reader",
    "pipe_reader",
    "shuffle",
    "xmap_readers",
]

Reader = Callable[[], Iterator[Any]]


class ComposeNotAligned(ValueError):
    """One of the readers given to ``compose`` ended before the others."""


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """Make a reader of ``func(a, b, ...)`` over the samples of ``readers``, until the shortest ends."""

    def reader() -> Iterator[Any]:
        yield from map(func, *(each() for each in readers))

    return reader


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """Make a reader that shuffles each ``buf_size`` samples, by the state of the ``random`` module.

    With 0 or 1 they stay as they are.
    """
    if buf_size < 0:
        raise ValueError(f"shuffle: buf_size must be 0 or more, it is {buf_size}")

    def data_reader() -> Iterator[Any]:
        samples = iter(reader())
        while chunk := list(itertools.islice(samples, max(buf_size, 1))):
            random.shuffle(chunk)
            yield from chunk

    return data_reader


def chain(*readers: Reader) -> Reader:
    """Make a reader of one reader's samples after another's."""

    def reader() -> Iterator[Any]:
        for each in readers:
            yield from each()

    return reader


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """Make a reader of joined tuples: ``(1, 2)``, ``3`` and ``(4, 5)`` become ``(1, 2, 3, 4, 5)``.

    With ``check_alignment``, readers of unequal length raise :class:`ComposeNotAligned`; without, the rest is
    dropped.
    """
    end = object()

    def reader() -> Iterator[Any]:
        streams = [each() for each in readers]
        rows = (
            itertools.zip_longest(*streams, fillvalue=end) if check_alignment else zip(*streams, strict=False)
        )
        for number, row in enumerate(rows):
            if any(part is end for part in row):
                raise ComposeNotAligned(
                    f"after {number} samples some of the {len(readers)} composed readers ended"
                )
            yield tuple(
                itertools.chain.from_iterable(part if isinstance(part, tuple) else (part,) for part in row)
            )

    return reader


def firstn(reader: Reader, n: int) -> Reader:
    """Make a reader of the first ``n`` samples."""

    def firstn_reader() -> Iterator[Any]:
        yield from itertools.islice(reader(), n)

    return firstn_reader


@dataclass(frozen=True, slots=True)
class _End:
    """The last thing a reading thread hands over, with the error that ended it, if one did."""

    error: BaseException | None = None


def buffered(reader: Reader, size: int) -> Callable[[], Generator[Any]]:
    """Make a reader that a thread of its own reads ahead, ``size`` samples at most."""

    def data_reader() -> Generator[Any]:
        samples: queue.Queue[Any] = queue.Queue(maxsize=size)
        gone = threading.Event()
        threading.Thread(target=_read_ahead, args=(reader, samples, gone), daemon=True).start()
        try:
            while not isinstance(sample := samples.get(), _End):
                yield sample
            if sample.error is not None:
                raise sample.error
        finally:
            gone.set()

    return data_reader


def _read_ahead(reader: Reader, samples: queue.Queue[Any], gone: threading.Event) -> None:
    """Fill ``samples`` until the reader ends or who consumes them is ``gone``."""

    def put(sample: Any) -> bool:
        while not gone.is_set():
            try:
                samples.put(sample, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    try:
        end = _End() if all(map(put, reader())) else None
    except BaseException as error:  # it is raised again where the samples are consumed
        end = _End(error)
    if end is not None:
        put(end)


def xmap_readers(
    mapper: Callable[[Any], Any], reader: Reader, process_num: int, buffer_size: int, order: bool = False
) -> Reader:
    """Make a reader of ``mapper(sample)``, mapped by ``process_num`` threads, ``buffer_size`` samples ahead;
    one more thread reads.

    The order of ``reader`` is kept whether ``order`` asks for it or not. Where the reader or the mapper
    fails, the samples before come first.
    """
    most = max(buffer_size, process_num)

    def xreader() -> Iterator[Any]:
        pool = ThreadPoolExecutor(process_num, thread_name_prefix="xmap")
        samples = buffered(reader, most)()
        ahead: deque[Future[Any]] = deque()
        try:
            for sample in _ending(samples):
                ahead.append(
                    _failed(sample.error) if isinstance(sample, _End) else pool.submit(mapper, sample)
                )
                if len(ahead) >= most:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            samples.close()

    return xreader


def _ending(samples: Iterator[Any]) -> Iterator[Any]:
    """The samples and, where one failed to come, the error in its place."""
    try:
        yield from samples
    except GeneratorExit:
        raise
    except BaseException as error:
        yield _End(error)


def _failed(error: BaseException | None) -> Future[Any]:
    """What a mapper would have given for a sample that failed to come."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


def multiprocess_reader(readers: Sequence[Reader], use_pipe: bool = True, queue_size: int = 1000) -> Reader:
    """Make a reader of the samples of several readers, in the order in which they come.

    Each reader runs in a process that is forked when the reader is called: it sees what was there by then,
    and what it changes is not seen here. Samples travel as pickles, through a pipe, which holds 64 KiB of
    them: ``use_pipe`` and ``queue_size`` change nothing. The error of a reader is raised when it comes.
    """
    if not readers:
        raise ValueError("multiprocess_reader needs one reader or more")

    def reader() -> Iterator[Any]:
        from paddle.reader.processes import read  # loads what few programs need

        yield from read(readers)

    return reader


def cache(reader: Reader) -> Reader:
    """Make a reader that keeps all samples in memory: the first call reads them all before it yields one, the
    others read nothing. What fails is read anew."""
    kept: list[tuple[Any, ...]] = []

    def cached_reader() -> Iterator[Any]:
        if not kept:
            kept.append(tuple(reader()))
        yield from kept[0]

    return cached_reader
