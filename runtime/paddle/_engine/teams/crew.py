"""A crew: threads that wait for tasks, each for its own.

It must never know what a task is. Guarantee: what one thread is given it does in that order; the threads end
with the crew, and keep no process from ending.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, TypeAlias

Task: TypeAlias = Callable[[], Any]
_Tasks: TypeAlias = "SimpleQueue[Task | None]"
_Done: TypeAlias = "SimpleQueue[tuple[Task, Any, BaseException | None, int]]"


class Crew:
    """Up to ``count`` threads, each of which begins with its first task. Not for two threads at once.

    ``spent_ns``: the processor's time for all tasks that are finished.
    """

    def __init__(self, count: int) -> None:
        self.count, self.spent_ns = count, 0
        self._tasks: list[_Tasks] = []
        self._done: _Done = SimpleQueue()
        self._under_way: set[Task] = set()
        weakref.finalize(self, _dismiss, self._tasks)

    def start(self, number: int, task: Task) -> None:
        """Have thread ``number`` do a task."""
        assert number < self.count
        while len(self._tasks) <= number:
            tasks: _Tasks = SimpleQueue()
            name = f"part_{len(self._tasks) + 1}"
            threading.Thread(target=_serve, args=(tasks, self._done), name=name, daemon=True).start()
            self._tasks.append(tasks)
        self._tasks[number].put(task)
        self._under_way.add(task)  # behind it: who is interrupted in between waits for nothing that never was

    def finish(self) -> Mapping[Task, tuple[Any, BaseException | None]]:
        """Wait for all that was started; gives what each task has given, or has raised."""
        found = {}
        while self._under_way:
            task, result, error, spent_ns = self._done.get()
            self.spent_ns += spent_ns
            if task in self._under_way:
                found[task] = result, error
                self._under_way.remove(task)
        return found


def _serve(tasks: _Tasks, done: _Done) -> None:
    while (task := tasks.get()) is not None:
        result, raised, began_ns = None, None, time.thread_time_ns()
        try:
            result = task()
        except BaseException as error:
            raised = error
        done.put((task, result, raised, time.thread_time_ns() - began_ns))
        del task, result, raised  # a thread that waits keeps nothing alive


def _dismiss(threads: list[_Tasks]) -> None:
    for tasks in threads:
        tasks.put(None)
