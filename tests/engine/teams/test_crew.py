"""A crew: what its threads are given they do, in order, and they end with it."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from functools import partial

from paddle._engine.teams.crew import Crew
from tests.waiting import PATIENCE_S


def threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("part_")}


def test_each_thread_does_its_tasks_in_order_and_all_are_told_what_became_of_them() -> None:
    crew, order = Crew(2), list[int]()
    tasks = [partial(order.append, number) for number in range(5)]
    for task in tasks:
        crew.start(1, task)
    crew.start(0, wrong := partial(int, "x"))
    done = crew.finish()
    assert order == list(range(5)) and all(done[task] == (None, None) for task in tasks)
    assert isinstance(done[wrong][1], ValueError)
    assert crew.finish() == {}


def test_threads_end_with_their_crew() -> None:
    before = threads()
    crew = Crew(2)
    crew.start(1, partial(int, "1"))
    crew.finish()
    begun = threads() - before
    assert len(begun) == 2
    del crew
    gc.collect()
    for each in begun:
        each.join(PATIENCE_S)
        assert not each.is_alive()


def test_a_thread_that_waits_keeps_nothing_alive() -> None:
    class Something: ...

    crew = Crew(1)
    crew.start(0, task := partial(Something))
    made = weakref.ref(crew.finish()[task][0])
    crew.start(0, again := partial(int, "2"))
    assert crew.finish()[again] == (2, None)
    gc.collect()
    assert made() is None


def test_it_knows_what_its_tasks_have_taken_of_the_processor() -> None:
    def work() -> None:
        began = time.thread_time_ns()
        while time.thread_time_ns() < began + 2_000_000:
            pass

    crew = Crew(2)
    for _ in range(2):
        crew.start(0, partial(work))
        crew.start(1, partial(work))
        crew.finish()
    assert crew.spent_ns >= 4 * 2_000_000
