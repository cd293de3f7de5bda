"""A file that is written whole or not at all."""

import errno
from pathlib import Path

import pytest

from paddle._program.files.whole import write_whole


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
