"""Processes that read: samples of several readers, each read in a process of its own. See
``paddle.reader.multiprocess_reader``.

It must never know what a sample means. Guarantee: an error in a reader reaches who iterates, and so does the
sudden end of its process; no process outlives the iteration, nor the one that iterates by more than the
sample that it is at.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

Reader = Callable[[], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class _End:
    """The last thing that a process says, with the error that ended its reader, if one did."""

    error: BaseException | None = None


def read(readers: Sequence[Reader]) -> Iterator[Any]:
    """The samples of all readers, as they come."""
    pipes = [multiprocessing.Pipe(duplex=False) for _ in readers]
    ours, theirs = zip(*pipes, strict=True)
    processes = {
        pipe: _fork(each, end, {*ours, *theirs} - {end})
        for (pipe, end), each in zip(pipes, readers, strict=True)
    }
    for end in theirs:
        end.close()
    try:
        yield from _received(processes)
    finally:
        for process in processes.values():
            process.kill()
        for pipe, process in processes.items():
            process.join()
            pipe.close()


def _received(processes: dict[Connection, ForkProcess]) -> Iterator[Any]:
    """All samples, as they come."""
    left = set(processes)
    while left:
        for pipe in wait(list(left)):
            assert isinstance(pipe, Connection)
            sample = _heard(pipe, processes[pipe])
            if not isinstance(sample, _End):
                yield sample
                continue
            left.remove(pipe)
            if sample.error is not None:
                raise sample.error


def _heard(pipe: Connection, process: ForkProcess) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        process.join()
        raise RuntimeError(
            f"the process {process.pid} of a reader of multiprocess_reader ended in the midst of its samples "
            f"with exit code {process.exitcode} (below 0: the signal that killed it)"
        ) from None


def _fork(reader: Reader, end: Connection, others: set[Connection]) -> ForkProcess:
    """A process that reads. It closes the ends of ``others``, so that each hears when another is gone."""
    context = multiprocessing.get_context("fork")  # a reader is mostly a closure, which cannot be pickled
    process = context.Process(target=_read, args=(reader, end, others), daemon=True)
    process.start()
    return process


def _read(reader: Reader, end: Connection, others: set[Connection]) -> None:
    """In the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who iterates hears it, and ends this process
    for each in others:
        each.close()
    with suppress(BrokenPipeError):  # nobody iterates any more
        try:
            for sample in reader():
                end.send(sample)
            end.send(_End())
        except BrokenPipeError:
            raise
        except BaseException as error:
            end.send(_End(_sendable(error)))


def _sendable(error: BaseException) -> BaseException:
    """The error itself, or where it does not survive being pickled one that says what it was."""
    try:
        pickled = multiprocessing.reduction.ForkingPickler.dumps(error)
        multiprocessing.reduction.ForkingPickler.loads(pickled)
    except Exception:
        return RuntimeError(f"a reader of multiprocess_reader raised {type(error).__name__}: {error}")
    return error
