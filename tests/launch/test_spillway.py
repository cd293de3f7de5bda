"""Lines to where perhaps nobody reads."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.spillway import Spillway


@pytest.fixture(params=["pipe", "socket"])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """To read from, and to write to."""
    if request.param == "pipe":
        both = os.pipe()
    else:
        one, other = socket.socketpair()
        both = one.detach(), other.detach()
    yield both
    for end in both:
        os.close(end)


def heard(end: int) -> bytes:
    """All that is there."""
    os.set_blocking(end, False)
    text = b""
    try:
        while data := os.read(end, 1 << 16):
            text += data
    except BlockingIOError:
        pass
    return text


def test_what_nobody_reads_keeps_nobody_waiting_and_is_counted(ends: tuple[int, int]) -> None:
    out, into = ends
    spillway, lines = Spillway(into), 0
    while not spillway.left_out:
        spillway.write(b"%06d %s\n" % (lines, b"x" * 90))
        lines += 1
    spillway.write(b"%s\n" % (b"y" * 97))
    first = heard(out)
    assert first.splitlines()[0].startswith(b"000000 ")
    spillway.write(b"there is room again\n")
    text = (first + heard(out)).splitlines()
    assert text[-2:] == [b"... 2 lines that nobody read are left out here", b"there is room again"]
    assert [line[:6] for line in text[:-2]] == [b"%06d" % n for n in range(lines - 1)]
    assert os.get_blocking(into), "others who write there wait as they did"
    spillway.close()


def test_lines_go_to_the_end_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    with path.open("wb") as file:
        file.write(b"before\n")
        file.flush()
        Spillway(file.fileno()).write(b"said\n")
        file.write(b"after\n")
    assert path.read_bytes() == b"before\nsaid\nafter\n"
