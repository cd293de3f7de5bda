"""While modules are loaded nobody looks for garbage, and afterwards all is as it was."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from threading import Barrier, Thread
from weakref import ref

import pytest

from paddle._loading import undisturbed


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """As every process has it at first; and afterwards, too."""
    yield
    gc.unfreeze()
    gc.enable()


class Knot:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


def test_nobody_collects_in_a_block_nor_in_one_within_it_nor_between_them() -> None:
    with undisturbed():
        assert not gc.isenabled()
        with undisturbed():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_blocks_of_two_threads_leave_the_collector_on() -> None:
    begun, ended = Barrier(2), Barrier(2)

    def load_longer() -> None:
        with undisturbed():
            begun.wait()
            ended.wait()

    thread = Thread(target=load_longer)
    with undisturbed():
        thread.start()
        begun.wait()
    assert gc.isenabled()
    ended.wait()
    thread.join()
    assert gc.isenabled()


def test_an_interrupt_while_a_block_begins_lets_the_collector_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    disable = gc.disable

    def interrupted() -> None:
        disable()
        raise KeyboardInterrupt

    monkeypatch.setattr(gc, "disable", interrupted)
    with pytest.raises(KeyboardInterrupt), undisturbed():
        pass
    assert gc.isenabled()


def test_a_block_that_fails_lets_the_collector_go_on() -> None:
    with pytest.raises(ModuleNotFoundError), undisturbed():
        import_module("paddle.nowhere")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with undisturbed():
        pass
    assert not gc.isenabled()


def test_what_a_block_made_is_old_and_garbage_of_it_and_of_before_is_found() -> None:
    gc.collect()
    before = Knot()
    with undisturbed():
        kept = [[] for _ in range(50_000)]
        within = Knot()
        assert gc.get_count()[0] >= len(kept)
    assert gc.get_count()[0] < len(kept)
    assert gc.get_freeze_count() == 0
    gone = [ref(before), ref(within)]
    del before, within
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_where_nothing_was_loaded_what_is_new_stays_new() -> None:
    gc.collect()
    new = [[] for _ in range(gc.get_threshold()[0] // 2)]
    with undisturbed():
        pass
    assert gc.get_count()[0] >= len(new)


def test_what_the_program_has_frozen_stays_frozen() -> None:
    gc.freeze()
    before = gc.get_freeze_count()
    with undisturbed():
        kept = [[] for _ in range(50_000)]
    assert before == gc.get_freeze_count() > 0
    assert len(kept) == 50_000


FORKING = """
import gc, os
from threading import Barrier, Thread
from paddle._loading import undisturbed

begun, ended = Barrier(2), Barrier(2)

def load_longer():
    with undisturbed():
        begun.wait()
        ended.wait()

Thread(target=load_longer).start()
begun.wait()
child = os.fork()
if not child:
    print(gc.isenabled(), end=" ", flush=True)
    with undisturbed():
        print(gc.isenabled(), end=" ", flush=True)
    print(gc.isenabled(), end=" ", flush=True)
    os._exit(0)
status = os.waitpid(child, 0)[1]
ended.wait()
print(status)
"""


def test_a_process_that_is_forked_while_a_thread_loads_collects_and_loads() -> None:
    run = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False", "True", "0"]


LOADING = """
import gc
runs = []
gc.callbacks.append(lambda when, found: runs.append(found["generation"]) if when == "start" else None)
import paddle
import paddle.distributed.fleet as fleet
from paddle import static
static.Executor, static.data, paddle.optimizer.SGD, paddle.concat, fleet.init
from paddle._engine.kernels import rows
print(sum(generation > 0 for generation in runs))
"""


def test_a_worker_loads_what_it_needs_and_few_look_through_more_than_what_is_new() -> None:
    """numpy, and what a program imports by itself, are loaded as anything else is."""
    run = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True)
    assert int(run.stdout) <= 8, run.stdout
