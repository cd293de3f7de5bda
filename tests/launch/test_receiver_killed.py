"""A receiver that is killed at, or meets a full disk in, any call that changes the disk."""

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from paddle._launch.agent import staging
from paddle._launch.agent.receiver import Receiver, Source
from paddle._launch.errors import DeliveryError, NodeLost
from tests.launch.receiving import ThreadLine, dispatch_of, tree
from tests.waiting import PATIENCE_S, until

CHANGES = (
    "mkdir",
    "open",
    "write",
    "rename",
    "replace",
    "link",
    "symlink",
    "unlink",
    "chmod",
    "utime",
    "ftruncate",
)
CHANGES += ("copy_file_range", "rmdir")
MOST = 400
OS_WRITE = os.write


class Counted:
    """Calls of ``os`` that change the disk; before the one of number ``at``, ``act`` is called."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self.count = 0
        self._at = at
        self._act = act

    def apply(self, put: Callable[[object, str, object], None]) -> None:
        for name in CHANGES:
            put(os, name, self._wrapped(getattr(os, name)))
        put(staging, "_exchange", self._wrapped(staging._exchange))

    def _wrapped(self, call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object, **options: object) -> object:
            if call is not OS_WRITE or stat.S_ISREG(os.fstat(arguments[0]).st_mode):  # an answer is no file
                self.count += 1
                if self.count == self._at:
                    self._act()
            return call(*arguments, **options)

        return wrapped


class ForkedLine(ThreadLine):
    """A line to a receiver in a process that is killed at one of its calls."""

    def __init__(self, at: int) -> None:
        self._left = None
        self.sent = 0
        self._near, far = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            try:
                self._near.close()
                Counted(at, lambda: os.kill(os.getpid(), signal.SIGKILL)).apply(setattr)
                os._exit(Receiver(Source(far.fileno()), far.fileno(), 1e9).run())
            finally:
                os._exit(99)
        far.close()

    def close(self) -> int:
        self._near.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    package = tmp_path / "package"
    (package / "lib").mkdir(parents=True)
    (package / "train.py").write_text("train")
    (package / "lib" / "words").write_text("to be or not to be")
    (package / "lib" / "same").write_text("to be or not to be")
    (package / "lib" / "link").symlink_to("words")
    return package


def changed(package: Path) -> None:
    (package / "train.py").write_text("train better")
    (package / "lib" / "words").write_text("that is the question")


def test_killed_at_any_call_the_workspace_is_old_or_new_and_the_next_dispatch_mends_all(
    package, tmp_path
) -> None:
    root = tmp_path / "root"
    dispatch_of(package, root).deliver(first := ThreadLine(), 0, root / "W")
    first.close()
    (root / "W" / "output").mkdir()
    (root / "W" / "output" / "model").write_text("model")
    for at in range(1, MOST):
        old = tree(root / "W")
        (package / "train.py").write_text(f"train {at}")
        line = ForkedLine(at)
        with contextlib.suppress(DeliveryError, OSError):
            dispatch_of(package, root).deliver(line, 0, root / "W", replaces=True)
        status = line.close()
        kept = {"output": ("folder",), "output/model": old["output/model"]}
        new = tree(package) | kept
        now = tree(root / "W")
        without = {name: seen for name, seen in new.items() if name not in kept}
        assert now in (old, new, without)  # the model may be on its way: the next dispatch brings it
        dispatch_of(package, root).deliver(again := ThreadLine(), 0, root / "W", replaces=True)
        again.close()
        assert tree(root / "W") == new
        assert list((root / ".paddle" / "staging").iterdir()) == []
        if status == 0:
            break
    assert 40 < at < MOST - 1


def test_a_full_disk_at_any_call_is_told_with_its_path_and_nothing_is_kept(
    package, tmp_path, monkeypatch
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "somewhere"))

    whole = tree(package)
    for at in range(1, MOST):
        root = tmp_path / f"root-{at}"
        dispatch = dispatch_of(package, root)
        dispatch.prepare()
        counted, failed = Counted(at, full), ""
        with monkeypatch.context() as patched:
            counted.apply(patched.setattr)
            line = ThreadLine()
            try:
                dispatch.deliver(line, 0, root / "W")
            except DeliveryError as error:
                failed = str(error)
            line.close()
        if counted.count < at:
            break
        assert tree(root / "W") in (None, whole)
        if failed:
            assert str(tmp_path) in failed
            assert "No space left on device" in failed
            assert tree(root / "W") is None
        dispatch_of(package, root).deliver(again := ThreadLine(), 0, root / "V")
        again.close()
        assert tree(root / "V") == whole
    assert 30 < at < MOST - 1


def test_a_full_disk_keeps_nothing_of_what_arrived(package, tmp_path, monkeypatch) -> None:
    (package / "large").write_bytes(b"x" * 3_000_000)
    write = os.write

    def full(descriptor: int, data: memoryview) -> int:
        if len(data) > 100_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    root = tmp_path / "root"
    monkeypatch.setattr(os, "write", full)
    line = ThreadLine()
    with pytest.raises(DeliveryError, match=rf"{root}/.*No space left on device.*Nothing of it was kept"):
        dispatch_of(package, root).deliver(line, 0, root / "W")
    line.close()
    assert [path for path in (root / ".paddle").rglob("*/*") if path.is_file()] == []


def test_two_dispatches_at_once_are_both_whole_and_share_no_file(package, tmp_path) -> None:
    root = tmp_path / "root"
    (package / "large").write_bytes(os.urandom(3_000_000))
    dispatches = [dispatch_of(package, root) for _ in range(4)]
    lines = [ThreadLine() for _ in dispatches]

    def serve(number: int) -> None:
        dispatches[number].deliver(lines[number], 0, root / f"JOB{number}")

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread, line in zip(threads, lines, strict=True):
        thread.join(PATIENCE_S)
        line.close()
    assert all(tree(root / f"JOB{number}") == tree(package) for number in range(4))
    files = [path for path in root.glob("JOB*/**/*") if path.is_file() and not path.is_symlink()]
    assert len({path.stat().st_ino for path in files}) == len(files)


def test_what_another_dispatch_stages_is_left_alone(package, tmp_path) -> None:
    root = tmp_path / "root"
    dispatch_of(package, root).deliver(line := ThreadLine(), 0, root / "JOB1")
    line.close()
    held, left = root / ".paddle" / "staging" / "held", root / ".paddle" / "staging" / "left"
    for folder in (held, left):
        (folder / "tree").mkdir(parents=True)
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    dispatch_of(package, root).deliver(line := ThreadLine(), 0, root / "JOB2")
    line.close()
    os.close(descriptor)
    assert held.is_dir()
    assert not left.exists()


class DarkLine(ThreadLine):
    """One that is cut without a word: its receiver still waits."""

    def send(self, data: memoryview) -> None:
        if self._left is not None and len(data) > self._left:
            self._push(data[: self._left])
            self._left = 0
            raise NodeLost("cut")
        super().send(data)

    def receive(self, most: int = 1 << 16) -> bytes:
        return b"" if self._left == 0 else super().receive(most)


def test_what_another_dispatch_still_receives_is_not_sent_again(package, tmp_path) -> None:
    root = tmp_path / "root"
    (package / "large").write_bytes(os.urandom(3_000_000))
    parts = root / ".paddle" / "parts"
    other = tmp_path / "roof"
    payload = dispatch_of(package, other).deliver(line := ThreadLine(), 0, other / "JOB1")
    line.close()
    dark = DarkLine(lives=line.sent - payload + 2_000_000)
    with pytest.raises(DeliveryError):
        dispatch_of(package, root).deliver(dark, 0, root / "JOB1")
    until(lambda: [path.stat().st_size for path in parts.glob("*")] == [2_000_000], "what had been sent")
    sent = dispatch_of(package, root).deliver(line := ThreadLine(), 0, root / "JOB2")
    assert line.close() == 0
    assert sent == payload - 2_000_000
    assert tree(root / "JOB2") == tree(package)
    assert dark.close() == 1, "it had waited all the time"
    dispatch_of(package, root).deliver(line := ThreadLine(), 0, root / "JOB3")
    line.close()
    assert list(parts.iterdir()) == [], "what it had left is nobody's any more"


def test_of_several_that_were_cut_the_longest_goes_on(package, tmp_path) -> None:
    root = tmp_path / "root"
    (package / "large").write_bytes(os.urandom(3_000_000))
    dispatch = dispatch_of(package, root)
    dispatch.prepare()
    digest = next(item.digest for item in dispatch._items.values() if item.path == "large")
    dispatch.deliver(line := ThreadLine(), 0, root / "JOB1")
    line.close()
    (root / ".paddle" / "objects" / digest).unlink()
    shutil.rmtree(root / "JOB1")
    for name, size in ((digest, 1000), (f"{digest}.abc", 2_500_000), (f"{digest}.again", 2_900_000)):
        (root / ".paddle" / "parts" / name).write_bytes((package / "large").read_bytes()[:size])
    sent = dispatch_of(package, root).deliver(line := ThreadLine(), 0, root / "JOB2")
    line.close()
    assert sent == 500_000
    assert tree(root / "JOB2") == tree(package)
    assert [path.name for path in (root / ".paddle" / "parts").iterdir()] == [f"{digest}.again"]
