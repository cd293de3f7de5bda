"""Each file goes through the user's command, which is gone when reading ends in whatever way."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from paddle._data.command import CommandFailed, pieces
from tests.waiting import PATIENCE_S

RUNTIME = {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "runtime"), "PATH": os.defpath}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "part-0"
    path.write_text("a b\nc d")
    return str(path)


def until(said: str, path: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while (said == "gone" and is_there(int(path.read_text()))) or (said == "there" and not read(path)):
        assert time.monotonic() < end, f"{path} never {said}"
        os.sched_yield()


def read(path: Path) -> str:
    with suppress(FileNotFoundError):
        return path.read_text()
    return ""


def is_there(process: int) -> bool:
    try:
        told = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return told.split()[2:3] not in ([], ["Z"])  # nothing is told of one that goes just now


def test_a_command_is_a_shells_and_cat_is_the_file_itself(file: str) -> None:
    assert b"".join(pieces(file, "cat")) == b"a b\nc d"
    assert b"".join(pieces(file, "tr a x | sort -r")) == b"x b\nc d\n"


def test_what_gzip_has_packed_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "part-0.gz"
    path.write_bytes(gzip.compress(b"a b\nc d\n" * 100_000))
    for command in ("cat", "tr x y"):
        assert b"".join(pieces(str(path), command)) == b"a b\nc d\n" * 100_000
    assert b"".join(pieces(str(path), "head -n 1")) == b"a b\n"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CommandFailed, match=r"gzip cannot unpack .*part-0.gz"):
        list(pieces(str(path), "tr x y"))


def test_python_is_this_one_and_finds_paddle(file: str) -> None:
    said = b"".join(pieces(file, "python -c 'import paddle, sys; print(sys.prefix, paddle.__version__)'"))
    assert said.decode().split()[0] == sys.prefix


def test_a_version_of_python_that_is_not_there_is_this_one(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, does in (("python3.1", "exit 127"), ("python3.2", "echo its own")):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    for lacking in ("python3.1", " python2.99"):  # a name of a manager of versions, and none at all
        said = b"".join(pieces(file, f"{lacking} -c 'import sys, paddle; print(sys.prefix)' | cat"))
        assert said.decode().strip() == sys.prefix
    assert b"".join(pieces(file, "python3.2 reader.py")) == b"its own\n"


def test_a_command_that_fails_says_what_it_said(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandFailed, match=r"ended with status 3 on .*part-0; .* no such table") as error:
        list(pieces(file, "cat; printf 'looks\\nno such table\\n\\n' >&2; exit 3"))
    assert "`cat; printf 'looks" in str(error.value) and "looks; " not in str(error.value)
    assert capfd.readouterr().err == "looks\nno such table\n\n"
    with pytest.raises(CommandFailed, match="killed by SIGTERM"):
        list(pieces(file, "kill -TERM $$"))


@pytest.mark.parametrize("way", ["QueueDataset", "InMemoryDataset"])
def test_what_is_wrong_with_data_is_told_in_one_line_of_the_program(way: str, tmp_path: Path) -> None:
    load = "dataset.load_into_memory()" if way == "InMemoryDataset" else "[*dataset.streams(2)[0]]"
    program = (
        f"import sys, paddle\npaddle.enable_static()\ndataset = paddle.distributed.{way}()\n"
        "dataset.init(use_var=[paddle.static.data('x', [None, 1])], pipe_command=sys.argv[1])\n"
        f"dataset.set_filelist(['part-0'])\npaddle.static.Executor()\n{load}\n"
    )
    (tmp_path / "train.py").write_text(program)

    def said(command: str) -> str:
        train = [sys.executable, "train.py", command]
        done = subprocess.run(train, cwd=tmp_path, env=RUNTIME, capture_output=True, text=True)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert done.stderr.startswith("train.py:7: "), done.stderr
        return done.stderr

    assert "part-0 of" in said("cat") and "part-0 of" in said("sort")
    (tmp_path / "part-0").write_text("1 5\n")
    assert "`exit 3`, ended with status 3 on part-0; it said nothing on stderr" in said("exit 3")
    assert "part-0, line 1: slot x" in said("echo 1 y")


def test_a_command_whose_reader_leaves_is_gone_with_all_it_started(file: str, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    found = pieces(file, f"sleep 1000 & echo $! > {place}; yes")
    next(found)
    until("there", place)
    found.close()
    until("gone", place)


def test_a_command_ends_when_the_program_is_killed(file: str, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    program = (
        "from paddle._data.command import pieces\n"
        "held = [open('/dev/null') for _ in range(20)]\n"  # so its descriptors have two digits
        f"list(pieces({file!r}, 'sleep 1000 & echo $! > {place}; wait'))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    until("there", place)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until("gone", place)
