"""A file that is written whole or not at all."""

import errno
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import IO

import pytest

from paddle._program.files.whole import write_whole
from tests.waiting import PATIENCE_S


def full(file):
    file.write(b"a part")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_is_full_leaves_what_was_there_and_the_error_names_the_path(tmp_path: Path) -> None:
    path = tmp_path / "model" / "w"
    write_whole(path, lambda file: file.write(b"before"))
    with pytest.raises(OSError, match=r"No space left on device: '.*/model/w'") as raised:
        write_whole(path, full)
    assert raised.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"before"
    assert [each.name for each in path.parent.iterdir()] == ["w"]


def test_what_is_no_error_of_the_disk_stays_what_it_is(tmp_path: Path) -> None:
    def fails(file):
        raise EOFError("no more samples")

    with pytest.raises(EOFError, match="no more samples"):
        write_whole(tmp_path / "w", fails)
    assert list(tmp_path.iterdir()) == []


def test_several_who_write_it_at_once_leave_one_of_theirs_whole(tmp_path: Path) -> None:
    """Also where they have one number, as processes of several machines may that share a folder."""
    path, texts = tmp_path / "w", [bytes([65 + place]) * 100_000 for place in range(8)]

    def write_halves(text: bytes, file: IO[bytes]) -> None:
        file.write(text[:50_000])
        half.wait(PATIENCE_S)  # all are in the midst of theirs
        file.write(text[50_000:])

    half = Barrier(len(texts))
    with ThreadPoolExecutor(len(texts)) as pool:
        list(pool.map(lambda text: write_whole(path, partial(write_halves, text)), texts))
    assert path.read_bytes() in texts
    assert list(tmp_path.iterdir()) == [path]
