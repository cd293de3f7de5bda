"""What a process reports to its agent, and that reporting never harms it."""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from paddle._launch.report import Reporter, take


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):  # the test closed it
            os.close(end)


def heard(reading: int) -> list[dict[str, object]]:
    os.set_blocking(reading, False)
    try:
        return [json.loads(line) for line in os.read(reading, 1 << 20).splitlines()]
    except BlockingIOError:
        return []


def progress(reporter: Reporter, batch_id: int) -> None:
    reporter.progress(pass_id=0, batch_id=batch_id, cost=6.5, samples_per_s=1000.0)


def test_events_are_one_object_a_line(pipe: tuple[int, int]) -> None:
    reporter = Reporter(pipe[1], Clock())
    reporter.ready([("127.0.0.1", 7164), ("127.0.0.1", 7165)])
    progress(reporter, 12)
    reporter.message("waiting\nfor pserver")
    reporter.joined()
    reporter.waiting([1], 5.04)
    reporter.broken("trainer 1 failed", (1,), is_own=False)
    assert heard(pipe[0]) == [
        {"report": "ready", "ports": [["127.0.0.1", 7164], ["127.0.0.1", 7165]]},
        {"report": "progress", "pass_id": 0, "batch_id": 12, "cost": 6.5, "samples_per_s": 1000.0},
        {"report": "message", "text": "waiting\nfor pserver"},
        {"report": "joined"},
        {"report": "waiting", "trainers": [1], "seconds": 5.0},
        {"report": "broken", "reason": "trainer 1 failed", "trainers": [1], "is_own": False, "other": ""},
    ]


def test_progress_comes_at_most_five_times_a_second(pipe: tuple[int, int]) -> None:
    clock = Clock()
    reporter = Reporter(pipe[1], clock)
    for batch in range(64):
        clock.now = batch / 64
        progress(reporter, batch)
    assert [event["batch_id"] for event in heard(pipe[0])] == [0, 13, 26, 39, 52]
    for _ in range(2):
        reporter.settle()
    assert [event["batch_id"] for event in heard(pipe[0])] == [63]


def test_how_far_training_was_in_the_end_is_told_once_and_by_no_fork(pipe: tuple[int, int]) -> None:
    """By a process whose batches are faster than what is told of them."""
    program = """
import os, sys
from paddle._launch.report import reporter
for batch_id in range(100):
    reporter().progress(pass_id=3, batch_id=batch_id, cost=1.0, samples_per_s=9.0)
if not os.fork():
    sys.exit()
os.wait()
"""
    environ = {**os.environ, "PADDLE_REPORT_FD": str(pipe[1])}
    subprocess.run([sys.executable, "-c", program], env=environ, pass_fds=[pipe[1]], check=True)
    told = [event["batch_id"] for event in heard(pipe[0])]
    assert (told[0], told[-1], told.count(99)) == (0, 99, 1)


def test_figures_of_numpy_are_figures(pipe: tuple[int, int]) -> None:
    reporter = Reporter(pipe[1])
    reporter.progress(
        pass_id=np.int64(1), batch_id=np.int64(2), cost=np.float32(0.5), samples_per_s=np.float64(8)
    )
    assert heard(pipe[0]) == [
        {"report": "progress", "pass_id": 1, "batch_id": 2, "cost": 0.5, "samples_per_s": 8.0}
    ]


def test_nobody_listening_is_no_error() -> None:
    take({}).message("to nobody")
    take({"PADDLE_REPORT_FD": "none"}).message("to nobody")
    take({"PADDLE_REPORT_FD": "987654"}).message("to nobody")


def test_a_reader_that_left_is_no_error(pipe: tuple[int, int]) -> None:
    reporter = take({"PADDLE_REPORT_FD": str(pipe[1])})
    os.close(pipe[0])
    reporter.message("one")
    reporter.message("two")


def test_a_reader_that_hangs_delays_nothing_and_gets_whole_lines(pipe: tuple[int, int]) -> None:
    reporter = take({"PADDLE_REPORT_FD": str(pipe[1])})
    for number in range(1000):
        reporter.message(f"{number} " + "x" * 5000)
    events = heard(pipe[0])
    assert 0 < len(events) < 1000
    reporter.message("again")
    assert heard(pipe[0])[-1] == {"report": "message", "text": "again"}


@pytest.mark.parametrize("letter", ["\N{GRINNING FACE}", "\0", "\udcff", "x"])
def test_the_longest_message_fits_one_write_of_a_pipe(letter: str, pipe: tuple[int, int]) -> None:
    reporter, long = Reporter(pipe[1]), letter * 10_000
    reporter.message(long)
    assert one_write(pipe[0])["report"] == "message"
    reporter.broken(long, (), is_own=False, other=long)
    assert one_write(pipe[0])["report"] == "broken"


def one_write(reader: int) -> dict[str, object]:
    line = os.read(reader, 1 << 20)
    assert len(line) <= 4096
    return json.loads(line)


def test_the_descriptor_and_its_name_go_to_no_other_program(pipe: tuple[int, int]) -> None:
    os.set_inheritable(pipe[1], True)
    environ = {"PADDLE_REPORT_FD": str(pipe[1]), "PATH": "/bin"}
    take(environ)
    assert environ == {"PATH": "/bin"}
    assert fcntl.fcntl(pipe[1], fcntl.F_GETFD) & fcntl.FD_CLOEXEC
