"""Command: a file through a command of the user's, in a process of its own.

Rules:
1.  The command is a shell's, as upstream's ``pipe_command``; the file is its stdin, unpacked where its name
    ends with .gz, and stdout is what is read. ``cat`` is the file itself: no process is started for it.
2.  ``python`` is the interpreter that runs the program, and finds the paddle that the program imports. So is
    a version of it that this machine has not: ``python3.7`` is what programs of that time say.
3.  What it writes on stderr goes to ours as it comes; its last line is kept for who asks why it failed.
4.  It and all that it starts are one process group, with a leash in it: a process that waits for ours to be
    gone. The group is killed when reading ends in whatever way, and by the leash where we were killed.

It must never know what the text means. Guarantee: the text comes whole, or a complaint says what happened.
"""

from __future__ import annotations

import functools
import gzip
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, cast

from paddle._complaint import Complaint

PIECE_BYTES = 1 << 20
WORTH_BYTES = 1 << 17
"""So much is read at a time, at least: what is read costs a few calls apiece."""
_KEPT_BYTES = 4000
_SHOWN = 500
_VERSION_OF_PYTHON = re.compile(r"\s*(python[23](?:\.\d+)?)\s")
_LEASHED = '(cat "/dev/fd/$1"; kill -9 0) </dev/null >/dev/null 2>&1 & exec sh -c "$0"'
"""Some shells know no descriptor above 9, but for their names."""


class CommandFailed(Complaint, RuntimeError):
    """A pipe_command did not end well."""

    exit_status = 1  # the program asked for nothing wrong: another try may do


class NoSuchFile(Complaint, FileNotFoundError):
    """A file of a dataset is not there."""

    exit_status = 1

    def __str__(self) -> str:
        return str(self.args[0])


def pieces(path: str, command: str) -> Generator[bytes, None, None]:
    """The text of a file as pieces that end with a line; the last may lack its end. Raises NoSuchFile,
    another OSError of a file that cannot be read, and CommandFailed."""
    is_itself = command.strip() in ("", "cat")
    with closing(_opened(path, is_itself)) as file:
        if is_itself:
            yield from _by_lines(file)
        elif path.endswith(".gz"):
            yield from _unpacked(file, path, command)
        else:
            yield from _through(file, path, command)


def _unpacked(file: IO[bytes], path: str, command: str) -> Iterator[bytes]:
    """The same of a file that gzip has packed, as upstream's."""
    unpack = subprocess.Popen(["gzip", "-dc"], stdin=file, stdout=subprocess.PIPE)
    with unpack:  # at the end its pipe is closed: it does not go on
        assert unpack.stdout is not None
        yield from _through(unpack.stdout, path, command)
    if unpack.returncode not in (0, -signal.SIGPIPE):  # a command need not read all
        raise CommandFailed(f"gzip cannot unpack {path}: it ended with status {unpack.returncode}")


def _opened(path: str, unpacks: bool) -> IO[bytes]:
    try:
        if unpacks and path.endswith(".gz"):
            return cast(IO[bytes], gzip.open(path, "rb"))
        return open(path, "rb", buffering=0)  # noqa: PTH123  a path may be anything that open takes
    except FileNotFoundError:
        where = "" if Path(path).is_absolute() else f" of {Path.cwd()}"
        said = f"the filelist of a dataset names {path}{where}, and there is no such file"
        raise NoSuchFile(said) from None


def _through(file: IO[bytes], path: str, command: str) -> Iterator[bytes]:
    leash, ours = os.pipe()
    process = subprocess.Popen(
        ["/bin/sh", "-c", _LEASHED, _with_a_python(command), str(leash)],
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(leash,),
        env=_environ(),
        start_new_session=True,
        bufsize=0,
    )
    os.close(leash)
    assert process.stdout is not None and process.stderr is not None
    kept = bytearray()
    listener = threading.Thread(target=_listen, args=(process.stderr, kept), name="stderr", daemon=True)
    listener.start()
    is_whole = False
    try:
        yield from _by_lines(process.stdout)
        status = process.wait()
        is_whole = True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        os.close(ours)
        if not is_whole:
            process.wait()
        listener.join(1.0)
        process.stdout.close()
    if status:
        raise CommandFailed(_why(path, command, status, bytes(kept)))


def _listen(stderr: IO[bytes], kept: bytearray) -> None:
    """What the command says goes on to ours; its end is kept."""
    with stderr:
        while said := os.read(stderr.fileno(), 65536):
            kept += said
            del kept[:-_KEPT_BYTES]
            with suppress(OSError, ValueError, AttributeError):  # nobody reads it, or there is no stderr
                sys.stderr.write(said.decode("utf-8", "replace"))
                sys.stderr.flush()


def _by_lines(stream: IO[bytes]) -> Iterator[bytes]:
    held = bytearray()
    while piece := stream.read(PIECE_BYTES):
        held += piece
        if len(held) >= WORTH_BYTES and (end := held.rfind(b"\n") + 1):
            yield bytes(held[:end])
            del held[:end]
    if held:
        yield bytes(held)


def _with_a_python(command: str) -> str:
    """The command, in which a version of ``python`` that is not there is the one that runs the program."""
    said = _VERSION_OF_PYTHON.match(command)
    if said is None or _starts(said[1]):
        return command
    return shlex.quote(sys.executable) + command[said.end(1) :]


@functools.cache
def _starts(program: str) -> bool:
    """Whether it is there, and is more than a name that leads to nothing, as one of a manager of versions."""
    try:
        asked = subprocess.run(
            [program, "-c", ""], env=_environ(), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError:
        return False
    return asked.returncode == 0


def _environ() -> dict[str, str]:
    """Ours, in which ``python`` and ``import paddle`` mean what they mean here."""
    environ = dict(os.environ)
    here = str(Path(sys.executable).parent)
    environ["PATH"] = os.pathsep.join((here, environ.get("PATH", os.defpath)))
    runtime = str(Path(__file__).parents[2])
    known = environ.get("PYTHONPATH", "")
    if runtime not in known.split(os.pathsep):
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, (known, runtime)))
    return environ


def _why(path: str, command: str, status: int, said: bytes) -> str:
    ended = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    lines = said.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    told = f"the last it said on stderr is: {last[-_SHOWN:]}" if last else "it said nothing on stderr"
    return f"the pipe_command of a dataset, `{command}`, {ended} on {path}; {told}; try `{command} < {path}`"
