"""How far a pod's log has been heard, over streams that break."""

from __future__ import annotations

import io
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.kubernetes.following import _MOST_LINE, Following
from paddle._launch.kubernetes.heard import Heard
from tests.waiting import PATIENCE_S

DAY = "2026-11-22T12:00:"


def stamped(*moments: str) -> list[str]:
    """Lines of a log: each has a time and its place."""
    return [f"{DAY}{moment}Z line {number}" for number, moment in enumerate(moments)]


def texts(heard: Heard, lines: list[str]) -> list[str]:
    return [text for line in lines if (text := heard.take(line)) is not None]


def since(lines: list[str], heard: Heard) -> list[str]:
    """What a server sends of a log: it takes the second of a time, and no fraction."""
    heard.begin()
    return [line for line in lines if line[:19] >= heard.since[:19]]


def test_a_stream_that_is_taken_up_begins_where_the_last_one_broke() -> None:
    lines, heard = stamped("01.100000000", "01.200000000", "02.000000000"), Heard()
    assert texts(heard, since(lines[:2], heard)) == ["line 0", "line 1"]
    assert since(lines, heard) == lines
    heard.begin()
    assert texts(heard, lines) == ["line 2"]


def test_lines_of_one_moment_are_counted() -> None:
    lines, heard = stamped("01.5", "01.5", "01.5", "01.5", "01.6"), Heard()
    assert len(texts(heard, since(lines[:2], heard))) == 2
    assert texts(heard, since(lines[:3], heard)) == ["line 2"]
    assert texts(heard, since(lines, heard)) == ["line 3", "line 4"]


def test_fractions_compare_as_numbers_also_without_the_zeros_at_their_end() -> None:
    lines, heard = stamped("01", "01.5", "01.50001", "01.500010001", "01.6"), Heard()
    for count in range(1, 6):
        assert texts(heard, since(lines[:count], heard)) == [f"line {count - 1}"]


def test_a_clock_that_is_set_back_keeps_no_line_from_being_heard() -> None:
    heard = Heard()
    assert len(texts(heard, since(stamped("05.1", "01.2", "01.3"), heard))) == 3


def test_the_summer_time_of_a_node_does_not_count() -> None:
    heard = Heard()
    first, second = "2026-10-25T02:59:59.1+02:00 a", "2026-10-25T02:00:00.1+01:00 b"
    assert texts(heard, [first]) == ["a"]
    heard.begin()
    assert texts(heard, [first, second]) == ["b"]


def test_what_has_no_time_is_told_once_and_moves_nothing() -> None:
    heard, remark = Heard(), "failed to create fsnotify watcher: too many open files"
    lines = stamped("01.1", "01.2")
    assert texts(heard, [lines[0], remark]) == ["line 0", remark]
    for _ in range(3):
        heard.begin()
        assert texts(heard, [remark]) == []
    assert heard.since == f"{DAY}01.1Z"
    heard.begin()
    assert texts(heard, lines) == ["line 1"]


@given(st.lists(st.integers(0, 40), max_size=30), st.lists(st.integers(0, 30), max_size=6))
def test_whatever_breaks_every_line_comes_once_and_in_order(tenths: list[int], breaks: list[int]) -> None:
    lines = stamped(*(f"{tenth // 10:02d}.{tenth % 10}" for tenth in sorted(tenths)))
    heard, found = Heard(), []
    for end in [*sorted(breaks), len(lines)]:
        found += texts(heard, since(lines[:end], heard))
    assert found == [f"line {number}" for number in range(len(lines))]


class Streams:
    """A kubectl whose log streams break: each gives what it is to, and ends. ``asked``: since when."""

    def __init__(self, *streams: bytes) -> None:
        self._streams = list(streams)
        self.asked: list[str] = []
        self.stdin = io.BytesIO()

    def begin(self, *words: str) -> Streams:
        self.asked.append(next((word for word in words if word.startswith("--since-time=")), ""))
        self.stdout = io.BufferedReader(io.BytesIO(self._streams.pop(0)))
        return self

    def kill(self) -> None:
        """It has ended."""

    def wait(self) -> None:
        """Likewise."""

    @property
    def is_over(self) -> bool:
        return len(self._streams) <= 1


def followed(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("paddle._launch.kubernetes.following._AGAIN_S", 0.0)
    following = Following(streams, "job1-trainer-0", lambda: streams.is_over)  # type: ignore[arg-type]
    return [line for lines in following.lines() for line in lines]


def test_a_stream_that_breaks_within_a_line_is_taken_up_with_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [f"{line}\n".encode() for line in stamped("01.1", "01.2", "02.0")]
    broken = lines[0] + lines[1][:-3]
    streams = Streams(broken, b"", lines[0] + lines[1], b"".join(lines))
    assert followed(streams, monkeypatch) == ["line 0", "line 1", "line 2"]
    assert streams.asked == ["", *[f"--since-time={DAY}01.1Z"] * 2, f"--since-time={DAY}01.2Z"]


def test_a_line_that_is_longer_than_is_kept_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    long, after = b"2 3" * _MOST_LINE, stamped("01.2")[0].encode()
    streams = Streams(f"{DAY}01.1Z ".encode() + long + b"\n" + after + b"\n")
    found = followed(streams, monkeypatch)
    assert len(found) > 2
    assert "".join(found[:-1]).encode() == long
    assert found[-1] == "line 0"


def test_who_leaves_is_not_kept_by_a_stream_that_is_still_to_be_taken_up() -> None:
    streams = Streams(b"", b"", b"")
    following = Following(streams, "job1-trainer-0", lambda: False)  # type: ignore[arg-type]
    thread = threading.Thread(target=list, args=[following.lines()], daemon=True)
    thread.start()
    following.leave()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "remark",
    [
        "unable to retrieve container logs for docker://0a1b2c",
        'failed to try resolving symlinks in path "/var/log/pods/x/0.log": lstat: no such file or directory',
    ],
)
def test_that_there_are_no_lines_is_no_line_of_a_role(remark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = stamped("01.1")
    streams = Streams(f"{line}\n{remark}\n".encode(), f"{remark}\n".encode())
    assert followed(streams, monkeypatch) == ["line 0"]
