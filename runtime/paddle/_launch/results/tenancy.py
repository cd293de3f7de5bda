"""The tenancy of a folder: whose results lie in its ``log`` and ``output``, and who may put others there.

Two jobs of one package have one place for their results. The first that runs has it, as the documents say;
one that begins meanwhile has a place of its own in it, ``log/JOB<date>``, with a ``log`` and an ``output``.

It must never know what results are. Guarantee: no two launches have one place, also when they begin at the
same moment, and it is free again when its launcher is gone, however it went. Who asks later whose the results
are hears of the job that has put something there last. Of a place that nothing was put in nothing is left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from pathlib import Path

_PATIENCE_S = 2.0
MARK = ".job"  # in ``log``, a line each: the job whose results lie there, and the one that may put others


class Tenancy:
    """What one launch has, until it lets go or its process is gone."""

    def __init__(self) -> None:
        self._mark = -1
        self._place: Path | None = None

    def take(self, home: Path, name: str, id: str) -> tuple[Path, str]:
        """Give the place for results of the job ``name``, and the id of the job that has ``home`` itself,
        empty where that is this one."""
        holder = self._hold(home, id)
        if not holder:
            return home, ""
        place = home / "log" / name
        with contextlib.suppress(OSError):  # who writes there will say what is wrong with it
            place.mkdir()
        self._hold(place, id)
        return place, holder

    def release(self) -> None:
        """Let go, unless the disk stands still: then that is done by the end of this process."""
        letting_go = threading.Thread(target=self._release, daemon=True)
        letting_go.start()
        letting_go.join(_PATIENCE_S)

    def _release(self) -> None:
        if self._place is not None and not tenant(self._place):
            log = self._place / "log"
            with contextlib.suppress(OSError):
                (log / MARK).unlink()
                log.rmdir()
                if self._place.parent.name == "log":
                    self._place.rmdir()
        if self._mark >= 0:
            os.close(self._mark)
        self._mark, self._place = -1, None

    def _hold(self, home: Path, id: str) -> str:
        """Hold ``home``; gives who does, if that is another. Where nothing can be locked all may."""
        while True:
            try:
                mark = _opened(home)
            except OSError:
                return ""
            try:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(mark)
                return _read(home)[1] or "another job"
            except OSError:  # a file system without locks
                os.close(mark)
                return ""
            if os.fstat(mark).st_nlink:
                break
            os.close(mark)  # its owner let go, and removed it, meanwhile
        self._mark, self._place = mark, home
        _write(home, tenant(home), id)
        return ""


def settle(home: Path, id: str) -> None:
    """From now on the results in ``home`` are those of this job."""
    _write(home, id, id)


def tenant(home: Path) -> str:
    """Give the id of the job whose results lie in ``home``; empty where nobody has said so."""
    return _read(home)[0]


def own_place(home: Path, name: str, id: str) -> Path:
    """Give where results of a job come that were to come to ``home``, where another's may lie by now."""
    return home if tenant(home) in ("", id) else home / "log" / name


def _opened(home: Path) -> int:
    (home / "log").mkdir(exist_ok=True)
    how = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(home / "log" / MARK, how, 0o644)


def _read(home: Path) -> tuple[str, str]:
    try:
        owner, holder, *_ = [*(home / "log" / MARK).read_text(errors="replace").split("\n"), "", ""]
    except OSError:
        return "", ""
    return owner, holder


def _write(home: Path, owner: str, holder: str) -> None:
    with contextlib.suppress(OSError):  # a full disk: whose they are is not known, then
        (home / "log" / MARK).write_text(f"{owner}\n{holder}\n")
