"""Memory that two processes map: what is told of it is looked at before it is believed."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import mmap
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from paddle._pserver.memory import region
from paddle._pserver.protocol.messages import Lies

RUNTIME = Path(__file__).parents[3] / "runtime"
SIZE = 3 * mmap.PAGESIZE + 100


def told(descriptor: int, size: int | None = None) -> Lies:
    found = os.fstat(descriptor)
    return Lies(descriptor, found.st_ino, found.st_size if size is None else size)


@contextmanager
def anonymous(size: int, flags: int = os.MFD_ALLOW_SEALING) -> Iterator[int]:
    descriptor = os.memfd_create("test", flags)
    try:
        os.ftruncate(descriptor, size)
        yield descriptor
    finally:
        os.close(descriptor)


def test_both_see_what_one_writes_and_the_other_cannot_write() -> None:
    made = region.make(SIZE)
    assert made is not None and made.lies is not None
    found = region.find(os.getpid(), made.lies)
    assert found is not None
    ours, theirs = made.array(np.float32, 8, 1000), found.array(np.float32, 8, 1000)
    ours[:] = np.arange(1000)
    assert np.array_equal(theirs, np.arange(1000))
    assert not theirs.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        theirs[0] = 1
    for offset, count in ((SIZE, 1), (-1, 1), (0, SIZE + 1)):
        with pytest.raises(ValueError, match="of a region"):
            found.array(np.uint8, offset, count)


@pytest.mark.parametrize("size", [(4 << 20) - 1, 4 << 20, (9 << 20) + 13])
@pytest.mark.parametrize("collapse", [25, 1 << 20])
def test_a_large_one_begins_where_large_pages_do_and_is_as_good_without_them(
    monkeypatch: pytest.MonkeyPatch, size: int, collapse: int
) -> None:
    monkeypatch.setattr(region, "_MADV_COLLAPSE", collapse)  # the other one is no advice at all
    made = region.make(size)
    assert made is not None and made.lies is not None
    found = region.find(os.getpid(), made.lies)
    assert found is not None
    ours, theirs = made.array(np.uint8, 0, size), found.array(np.uint8, 0, size)
    ours[:] = np.arange(size) % 251
    assert np.array_equal(ours, theirs)
    assert len(ours) == len(theirs) == size
    if size >= 4 << 20:
        assert ours.ctypes.data % (2 << 20) == theirs.ctypes.data % (2 << 20) == 0


def test_nobody_can_cut_it_off_or_unseal_it() -> None:
    made = region.make(SIZE)
    assert made is not None and made.lies is not None
    for change in (
        lambda descriptor: os.ftruncate(descriptor, 1),
        lambda descriptor: os.ftruncate(descriptor, 2 * SIZE),
        lambda descriptor: fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE),
    ):
        with pytest.raises(PermissionError):
            change(made.lies.descriptor)


def test_it_is_given_back_as_soon_as_nobody_uses_it() -> None:
    made = region.make(SIZE)
    assert made is not None and made.lies is not None
    where, array = Path(f"/proc/self/fd/{made.lies.descriptor}"), made.array(np.uint8, 0, 1)
    inode = made.lies.inode
    del made
    gc.collect()
    assert where.stat().st_ino == inode
    del array
    gc.collect()
    with contextlib.suppress(FileNotFoundError):
        assert where.stat().st_ino != inode, "its number is another's by now, or nobody's"


def test_it_outlives_the_process_that_made_it() -> None:
    program = f"""
import sys, numpy
from paddle._pserver.memory import region
made = region.make({SIZE})
made.array(numpy.uint8, 0, {SIZE})[:] = 7
print(made.lies.descriptor, made.lies.inode, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        descriptor, inode = map(int, process.stdout.readline().split())
        found = region.find(process.pid, Lies(descriptor, inode, SIZE))
        process.kill()
    assert found is not None
    assert found.array(np.uint8, 0, SIZE).tolist() == [7] * SIZE
    assert region.find(process.pid, Lies(descriptor, inode, SIZE)) is None


# What is not believed.


def test_one_that_could_still_be_cut_off_is_not_mapped() -> None:
    with anonymous(SIZE) as descriptor:
        assert region.find(os.getpid(), told(descriptor)) is None
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        assert region.find(os.getpid(), told(descriptor)) is None  # the seals could be no more than begun
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)
        assert region.find(os.getpid(), told(descriptor)) is not None


def test_another_size_or_another_file_is_not_mapped() -> None:
    made = region.make(SIZE)
    assert made is not None and made.lies is not None
    descriptor, inode, _ = made.lies.descriptor, made.lies.inode, made.lies.size_bytes
    for lies in (
        Lies(descriptor, inode, SIZE - 1),
        Lies(descriptor, inode, SIZE + 1),
        Lies(descriptor, inode + 1, SIZE),
        Lies(1 << 40, inode, SIZE),
        Lies(1 << 62, 1 << 62, 1 << 62),
    ):
        assert region.find(os.getpid(), lies) is None
    assert region.find(1 << 62, made.lies) is None


def test_what_is_no_memory_is_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(SIZE))
    reading, writing = os.pipe()
    with path.open("rb") as file, socket.socket() as sock:
        for descriptor in (file.fileno(), sock.fileno(), reading, writing):
            assert region.find(os.getpid(), told(descriptor)) is None
            assert region.find(os.getpid(), told(descriptor, SIZE)) is None
    os.close(reading)
    os.close(writing)


# Where there is none.


def refuse(*args: object) -> None:
    raise OSError("no memory is left")


@pytest.mark.parametrize("call", ["os.memfd_create", "os.posix_fallocate", "mmap.mmap", "fcntl.fcntl"])
def test_where_the_system_refuses_there_is_none_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    gc.collect()  # what earlier tests have left may close files at any time
    before = set(Path("/proc/self/fd").iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(call, refuse)
        assert region.make(SIZE) is None
    assert set(Path("/proc/self/fd").iterdir()) <= before


def test_a_limit_on_sizes_is_no_error() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE - 1, before[1]))
    try:
        assert region.make(SIZE) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1 << 50])
def test_none_of_no_size_and_none_that_no_machine_has(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The kernel would take memory from others, by killing them, before it says that there is none."""
    monkeypatch.setattr("os.memfd_create", None)  # not even asked
    assert region.make(size) is None


def test_none_where_half_of_the_memory_that_is_left_is_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.memory.memory.available_bytes", lambda: 2 * SIZE - 1)
    assert region.make(SIZE) is None
    monkeypatch.setattr("paddle._pserver.memory.memory.available_bytes", lambda: 2 * SIZE)
    assert region.make(SIZE) is not None
