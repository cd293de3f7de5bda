"""Reading ahead: the order of all that a program sees, whatever is slow, fails or is left."""

import contextvars
import random
import signal
import threading
import time

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._data import ahead
from paddle._data.turn import learned
from tests.waiting import PATIENCE_S, until

EVENTS = ["BeginIteration", "EndForwardBackward", "EndIteration"]


@pytest.fixture(params=[True, False], ids=["in a thread", "in the trainer's"])
def reads_ahead(request, monkeypatch):
    """Whether a pass is read in a thread or, as if that did not pay, in the trainer's. Turns are waited for
    however long they take: what is not waited for comes in another order."""
    monkeypatch.setattr(ahead, "WORTH_S", 0.0)
    monkeypatch.setattr(ahead, "PATIENCE_S", PATIENCE_S)
    paddle.init(read_ahead=request.param)
    return request.param


def sgd(learning_rate=0.1):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    out = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
    cost = paddle.layer.sum_cost(input=out)
    optimizer = paddle.optimizer.Momentum(learning_rate=learning_rate)
    return paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer)


def readers():
    """The threads that read, those that other tests have left among them."""
    return {thread for thread in threading.enumerate() if thread.name == "reader"}


def seeing(log, then=lambda event: None):
    def handle(event):
        log.append(type(event).__name__)
        then(event)

    return handle


def reading(log, count, last=lambda: None):
    def read():
        try:
            for number in range(count):
                log.append(number)
                yield [([number, 1.0],)] * 2
            last()
        finally:
            log.append("closed")

    return read


def test_a_batch_is_read_during_the_step_before_it(reads_ahead):
    log = []
    sgd().train(reading(log, 3), num_passes=2, event_handler=seeing(log))
    one = ["BeginPass", 0, "BeginIteration", 1, *EVENTS[1:], "BeginIteration", 2, *EVENTS[1:]]
    one += ["BeginIteration", "closed", *EVENTS[1:], "EndPass"]
    assert log == one * 2


def test_what_is_drawn_by_reader_and_handler_is_drawn_in_one_order(monkeypatch):
    monkeypatch.setattr(ahead, "PATIENCE_S", PATIENCE_S)

    def drawn(in_thread):
        paddle.init(read_ahead=in_thread)
        random.seed(3)
        np.random.seed(3)
        found = []

        def read():
            for _ in range(20):
                found.append(("read", random.random(), np.random.rand()))
                yield [([1.0, 2.0],)]

        sgd().train(
            read, event_handler=lambda e: found.append(("handled", random.random(), np.random.rand()))
        )
        return found

    assert drawn(True) == drawn(False) == drawn(True)


def test_an_error_of_the_reader_comes_where_its_batch_would(reads_ahead):
    log = []

    def fail():
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        sgd().train(reading(log, 2, fail), event_handler=seeing(log))
    assert log[-4:] == ["BeginIteration", "closed", *EVENTS[1:]]


def test_a_row_that_does_not_fit_is_told_when_its_batch_has_begun(reads_ahead):
    log = []
    with pytest.raises(ValueError, match="row 0 of the batch, slot 'x'"):
        sgd().train(lambda: iter([[([1, 2],)], [([1],)], [([1, 2],)]]), event_handler=seeing(log))
    assert log == ["BeginPass", *EVENTS, "BeginIteration"]


def test_sys_exit_in_a_reader_ends_the_training(reads_ahead):
    with pytest.raises(SystemExit):
        sgd().train(reading([], 1, exit))


@pytest.mark.parametrize("name", EVENTS)
def test_a_pass_that_is_left_has_read_one_batch_more_and_closes_its_reader(reads_ahead, name):
    log, before = [], readers()

    def leave(event):
        if type(event).__name__ == name and event.batch_id == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        sgd().train(reading(log, 100), event_handler=seeing(log, leave))
    read = [each for each in log if isinstance(each, int)]
    assert read == list(range(3 if name == "BeginIteration" else 4)) and log[-1] == "closed"
    assert readers() <= before


def test_a_reader_that_others_hold_may_be_gone_on_with(reads_ahead):
    samples = ([([n, 1.0],)] for n in range(10))

    def leave(event):
        if isinstance(event, paddle.event.EndIteration) and event.batch_id == 1:
            raise InterruptedError

    trainer = sgd()
    with pytest.raises(InterruptedError):
        trainer.train(lambda: samples, event_handler=leave)
    assert [rows[0][0][0] for rows in samples] == list(range(3, 10))


def test_nothing_is_read_behind_the_end(reads_ahead):
    asked = []

    class Ending:
        def __iter__(self):
            return self

        def __next__(self):
            asked.append(len(asked))
            if len(asked) > 2:
                raise StopIteration
            return [([1.0, 2.0],)]

    sgd().train(Ending)
    assert len(asked) == 3


def test_a_reader_that_waits_for_a_handler_gets_what_it_waits_for(monkeypatch):
    monkeypatch.setattr(ahead, "PATIENCE_S", 0.01)
    ready = threading.Semaphore(1)

    def read():
        for _ in range(3):
            assert ready.acquire(timeout=PATIENCE_S)
            yield [([1.0, 2.0],)]

    def handle(event):
        if isinstance(event, paddle.event.EndIteration):
            ready.release()

    sgd().train(read, event_handler=handle)


def test_a_pass_is_read_by_one_thread_which_has_the_variables_of_the_trainers(monkeypatch):
    monkeypatch.setattr(ahead, "WORTH_S", 0.0)
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    threads = set()

    def read():
        for _ in range(5):
            threads.add(threading.current_thread())
            assert variable.get() == 7
            yield [([1.0, 2.0],)]

    sgd().train(read)
    assert len(threads) == 1 and threads != {threading.current_thread()}


def test_a_pass_that_takes_less_than_to_hand_over_makes_the_next_ones_read_here(monkeypatch):
    monkeypatch.setattr(ahead, "WORTH_S", 60.0)
    threads = []

    def read():
        threads.append(threading.current_thread())
        yield [([1.0, 2.0],)]

    trainer = sgd()
    trainer.train(read, num_passes=2)
    trainer.train(read)
    assert threads[0] is not threading.current_thread()
    assert threads[1:] == [threading.current_thread()] * 2


def test_an_interrupt_leaves_a_reader_that_never_returns(monkeypatch, request):
    monkeypatch.setattr(ahead, "PATIENCE_S", 0.05)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & has it ignored
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    begun, over = threading.Event(), threading.Event()

    def read():
        yield [([1.0, 2.0],)]
        begun.set()
        over.wait()

    def interrupt():
        assert begun.wait(PATIENCE_S)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # wakes who waits, too

    others = readers()
    threading.Thread(target=interrupt).start()
    began_s = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sgd().train(read)
    assert time.monotonic() - began_s < 30
    over.set()
    until(lambda: readers() <= others, "the reader's end")


def test_what_was_read_is_told_when_it_was_learned():
    log, steps = [], []

    def read():
        for number in range(4):
            learned()
            log.append((number, len(steps)))
            yield [([1.0, 2.0],)]

    trainer = sgd()
    step = trainer._training.step

    def slow(feed, samples):
        tally = step(feed, samples)
        steps.append(samples)
        return tally

    trainer._training.step = slow
    trainer.train(read)
    assert log == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_what_a_step_leaves_unlearned_is_never_told():
    told = []

    def read():
        try:
            for _ in range(2):
                learned()
                told.append("learned")
                yield [([1.0, 2.0],)]
        except GeneratorExit:
            told.append("left")
            raise

    trainer = sgd()

    def fail(feed, samples):
        raise InterruptedError

    trainer._training.step = fail
    with pytest.raises(InterruptedError):
        trainer.train(read)
    assert told == ["learned", "left"]
