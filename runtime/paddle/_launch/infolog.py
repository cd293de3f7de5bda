"""The .INFO files: what a trainer and a parameter server did, in the lines of glog.

    I1121 07:38:22.123456  4711 trainer.py:120] Pass 0, Batch 100, Cost 6.1

Who logs uses the standard library's loggers ``paddle.trainer`` and ``paddle.pserver``, never this file.

Guarantee: logging never ends training; a file that cannot be written is told once, on standard error.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from paddle._launch.spillway import Spillway
from paddle._visible import visible

Program = Literal["paddle_trainer", "paddle_pserver2"]

_LOGGERS: dict[Program, str] = {"paddle_trainer": "paddle.trainer", "paddle_pserver2": "paddle.pserver"}
_LETTERS = {
    logging.DEBUG: "I",
    logging.INFO: "I",
    logging.WARNING: "W",
    logging.ERROR: "E",
    logging.CRITICAL: "F",
}
_LEVELS = (logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)  # by GLOG_minloglevel
_STANDARD_ERROR = 2
_TRUE = frozenset({"1", "t", "true", "y", "yes"})


class GlogFormatter(logging.Formatter):
    """Lays a record out as glog does, in local time with microseconds."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line without its end; a traceback follows on lines of its own."""
        letter = _LETTERS.get(record.levelno, "I")
        moment = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        micros = int(record.created % 1 * 1_000_000)
        place = f"{record.filename}:{record.lineno}"
        line = f"{letter}{moment}.{micros:06d} {record.process:5d} {place}] {visible(record.getMessage())}"
        return f"{line}\n{_trace(self, record)}" if record.exc_info else line


class PlainFormatter(logging.Formatter):
    """Lays a record out as the message alone."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line without its end."""
        line = visible(record.getMessage())
        return f"{line}\n{_trace(self, record)}" if record.exc_info else line


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    assert record.exc_info
    return "\n".join(visible(line) for line in formatter.formatException(record.exc_info).splitlines())


class InfoLog(logging.Handler):
    """Writes each record at once, whole, to ``descriptor``; processes may share the file. To standard error
    only as much as there is room for (spillway.py)."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__()
        self._descriptor = descriptor
        self.file_name = name
        self._complained = False
        self._spillway = None if self.is_file else Spillway(descriptor)
        self.setFormatter(GlogFormatter())

    @property
    def is_file(self) -> bool:
        """Whether it is not standard error."""
        return self._descriptor != _STANDARD_ERROR

    def emit(self, record: logging.LogRecord) -> None:
        """Write ``record``, or lose it and say so the first time."""
        try:
            line = self.format(record).encode("utf-8", "replace") + b"\n"
            if self._spillway is not None:
                self._spillway.write(line)
            else:
                os.write(self._descriptor, line)
        except OSError as error:
            if self.is_file and not self._complained:
                self._complained = True
                _complain(self.file_name, error)
        except Exception:
            self.handleError(record)  # a message that does not fit its arguments: shown, never raised

    def close(self) -> None:
        """Close the file."""
        if self._descriptor > _STANDARD_ERROR:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._spillway is not None:
            self._spillway.close()
        super().close()


def log_folder(environ: Mapping[str, str]) -> str:
    """Where a process's logs are: ``$GLOG_log_dir``, or here."""
    return environ.get("GLOG_log_dir") or "."


def open_info_log(program: Program, environ: Mapping[str, str]) -> InfoLog | None:
    """Send what ``program`` logs to ``$GLOG_log_dir/<program>.INFO``, or with GLOG_logtostderr to stderr.

    Where neither is set nothing changes and ``None`` is returned. Calling it again changes nothing.
    """
    logger = logging.getLogger(_LOGGERS[program])
    to_stderr = environ.get("GLOG_logtostderr", "").lower() in _TRUE
    folder = environ.get("GLOG_log_dir")
    if not to_stderr and not folder:
        return None
    name = "standard error" if to_stderr else str(Path(folder or ".", f"{program}.INFO").absolute())
    for handler in logger.handlers:
        if isinstance(handler, InfoLog) and handler.file_name == name:
            return handler
    try:
        descriptor = _STANDARD_ERROR if to_stderr else _open(Path(name))
    except OSError as error:
        _complain(name, error)
        return None
    return _attach(logger, InfoLog(descriptor, name), environ)


def warn_on_standard_error() -> None:
    """What nothing else takes goes to standard error from now on, as ever from warnings on, but waits for
    nobody to read it. Calling it again changes nothing."""
    root = logging.getLogger()
    if not root.handlers:
        handler = InfoLog(_STANDARD_ERROR, "standard error")
        handler.setFormatter(PlainFormatter())
        handler.setLevel(logging.WARNING)
        root.addHandler(handler)


def _attach(logger: logging.Logger, handler: InfoLog, environ: Mapping[str, str]) -> InfoLog:
    level = environ.get("GLOG_minloglevel", "0")
    logger.setLevel(_LEVELS[int(level)] if level in ("0", "1", "2", "3") else logging.INFO)
    logger.addHandler(handler)
    logger.propagate = False  # these lines are the file's; they are not to fill the program's own log
    logger.info("pid %d on %s, Python %s", os.getpid(), platform.node(), platform.python_version())
    return handler


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _complain(name: str, error: OSError) -> None:
    print(f"warning: cannot write {name}: {error.strerror}; going on without it", file=sys.stderr)
