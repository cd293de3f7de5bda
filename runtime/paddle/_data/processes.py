"""Processes that read, and the pipes on which they say what they have read.

It must never know what is read. Guarantee: an error in a process comes out where its next value was to come,
and so does its sudden end. No process outlives the block of ``with``, nor by more than the value that it is
at the process that listens.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Any

Work = Callable[[], Iterable[Any]]


class End:
    """The last thing that a process says which has read all."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """What one says in place of a value. ``error``: None for one that does not survive being sent."""

    error: BaseException | None
    said: str


class Processes:
    """``works``: what each reads, in a process of its own. ``called``: what errors call one by its number."""

    def __init__(self, works: Sequence[Work], called: Callable[[int], str]) -> None:
        self._called = called
        context = multiprocessing.get_context("fork")  # what is read need not be picklable
        pairs = [context.Pipe(duplex=False) for _ in works]
        self.pipes = [ours for ours, _ in pairs]
        self._processes: list[ForkProcess] = []
        for work, (_, end) in zip(works, pairs, strict=True):
            # Each closes the ends of the others, so that it hears when who listens is gone.
            others = [each for pair in pairs for each in pair if each is not end]
            self._processes.append(context.Process(target=_say, args=(work, end, others), daemon=True))
            self._processes[-1].start()
        for _, end in pairs:
            end.close()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
        for pipe, process in zip(self.pipes, self._processes, strict=True):
            process.join()
            pipe.close()

    def heard(self, number: int, timeout_s: float = 0.0) -> Any:
        """The next value of one, or ``End``. ``timeout_s``: how long it may take, 0 for ever."""
        pipe, process, called = self.pipes[number], self._processes[number], self._called(number)
        if timeout_s and not pipe.poll(timeout_s):
            raise RuntimeError(
                f"{called} (process {process.pid}) gave nothing for {timeout_s:g} s, its timeout"
            )
        try:
            said = pipe.recv()
        except EOFError:
            process.join()
            raise RuntimeError(
                f"{called} (process {process.pid}) ended in the middle of its work with exit code "
                f"{process.exitcode} (below 0: the signal that killed it)"
            ) from None
        if not isinstance(said, _Failed):
            return said
        text = f"{called} raised {said.said}"
        if said.error is None:
            raise RuntimeError(text)
        said.error.add_note(text)
        raise said.error


def _say(work: Work, end: Connection, others: Iterable[Connection]) -> None:
    """In the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who listens hears it, and ends this process
    for each in others:
        each.close()
    with suppress(BrokenPipeError):  # nobody listens any more
        try:
            for value in work():
                end.send(value)
            end.send(End())
        except BrokenPipeError:
            raise
        except BaseException as error:
            said = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
            end.send(_Failed(_sendable(error), said))


def _sendable(error: BaseException) -> BaseException | None:
    try:
        pickled = multiprocessing.reduction.ForkingPickler.dumps(error)
        multiprocessing.reduction.ForkingPickler.loads(pickled)
    except Exception:
        return None
    return error
