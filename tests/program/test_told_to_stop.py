"""SIGTERM to a trainer."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from paddle._program.told_to_stop import ToldToStop, listen


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_it_is_an_error_that_is_told_and_raised_and_means_what_it_meant_the_second_time() -> None:
    told: list[BaseException] = []
    listen(told.append)
    with pytest.raises(ToldToStop, match="by SIGTERM") as raised:
        os.kill(os.getpid(), signal.SIGTERM)
    assert told == [raised.value] and raised.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_who_has_said_what_it_does_is_left_in_peace() -> None:
    def own(*_: Any) -> None: ...

    signal.signal(signal.SIGTERM, own)
    listen(print)
    assert signal.getsignal(signal.SIGTERM) is own


def test_other_threads_have_no_say_in_it() -> None:
    thread = threading.Thread(target=listen, args=(print,))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_copy_of_the_process_ends_at_once() -> None:
    listen(print)
    copied = os.fork()
    if not copied:
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(0)
    _, status = os.waitpid(copied, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGTERM
