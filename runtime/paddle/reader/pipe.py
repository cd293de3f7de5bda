"""The output of a command as a stream of lines: PipeReader, and pipe_reader, which 0.11 has.

It must never run a shell. Guarantee: a command that fails raises; the process is gone when reading stops.
"""

from __future__ import annotations

import codecs
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal


class PipeReader:
    """Reads what a command writes, such as ``PipeReader("hadoop fs -cat /data/part-0").get_line()``.

    The command is split at spaces. ``file_type`` "gzip" unpacks its output.
    """

    def __init__(
        self, command: str, bufsize: int = 8192, file_type: Literal["plain", "gzip"] = "plain"
    ) -> None:
        if not isinstance(command, str):
            raise TypeError(f"PipeReader takes a command as one string, not {type(command).__name__}")
        if file_type not in ("plain", "gzip"):
            raise TypeError(f"PipeReader knows the file types 'plain' and 'gzip', not {file_type!r}")
        self._command = command
        self._bufsize = bufsize
        self._gzip = file_type == "gzip"
        self._process = subprocess.Popen(command.split(" "), bufsize=bufsize, stdout=subprocess.PIPE)

    def get_line(self, cut_lines: bool = True, line_break: str = "\n") -> Iterator[str | bytes]:
        """Yield lines less their ``line_break`` or, without ``cut_lines``, buffers of bytes as they are."""
        try:
            yield from _lines(self._buffers(), line_break) if cut_lines else self._buffers()
        except BaseException:  # it may be waiting for somebody to read what it writes
            self._process.kill()
            raise
        finally:
            status = self._process.wait()
            if self._process.stdout:
                self._process.stdout.close()
        if status:
            raise RuntimeError(f"the command of a PipeReader ended with status {status}: {self._command}")

    def _buffers(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        unpack = zlib.decompressobj(32 + zlib.MAX_WBITS)  # 32: find the header, gzip's or zlib's, by itself
        while chunk := self._process.stdout.read(self._bufsize):
            yield unpack.decompress(chunk) if self._gzip else chunk


def pipe_reader(
    left_cmd: str,
    parser: Callable[[Any], Iterable[Any]],
    bufsize: int = 8192,
    file_type: Literal["plain", "gzip"] = "plain",
    cut_lines: bool = True,
    line_break: str = "\n",
) -> Callable[[], Iterator[Any]]:
    """A reader of the samples that ``parser`` makes of a command's output: of a list of one line or, without
    ``cut_lines``, of a buffer of bytes."""
    if not callable(parser):
        raise TypeError(f"pipe_reader takes a function of lines that returns samples, not {parser!r}")

    def reader() -> Iterator[Any]:
        for found in PipeReader(left_cmd, bufsize, file_type).get_line(cut_lines, line_break):
            yield from parser([found] if cut_lines else found)

    return reader


def _lines(buffers: Iterable[bytes], line_break: str) -> Iterator[str]:
    """Cut buffers into lines; a line or a character may span two of them, the last line may lack its end."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    rest = ""
    for chunk in buffers:
        *lines, rest = (rest + decode(chunk)).split(line_break)
        yield from lines
    if rest:
        yield rest
