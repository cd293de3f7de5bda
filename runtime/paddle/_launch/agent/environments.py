"""The virtual environments that were made on a node for the runtime, in ``.paddle/venvs`` of ROOT_DIR.

Each has a name that says what is in it, and is never changed once it is whole. ``.paddle/venv`` is a link to
the one that jobs run with: so another one takes its place at once, and jobs that run keep theirs. It must
never know what is installed. Rules:

1. One is whole when its mark is there, which is written last, after all of it is on the disk.
2. What is not whole belongs to whoever has the lock, and is nobody's after that.
3. The link is replaced, never followed into; what is there and no link of ours is left alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .manifest import Refused
from .staging import sync, sync_folder

MARK = "installed.json"


class Environments:
    """Those in ``home``, which is ``.paddle`` of ROOT_DIR."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / "venvs"
        self._link = home / "venv"

    def place(self, name: str) -> Path:
        """Where one is, or will be."""
        return self._folder / name

    def current(self) -> str | None:
        """The one that jobs run with; empty where there is none, None where something else has the place."""
        if not os.path.lexists(self._link):
            return ""
        if not self._link.is_symlink():
            return None
        target = Path(os.readlink(self._link))  # noqa: PTH115  as it is written
        return target.name if target == Path(self._folder.name, target.name) else None

    def whole(self) -> list[str]:
        """The names of those that are whole."""
        with contextlib.suppress(OSError):
            return sorted(path.parent.name for path in self._folder.glob(f"*/{MARK}"))
        return []

    def wheels_of(self, name: str) -> str:
        """The folder of the wheels that one was made of, which it does not need any more."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            return str(json.loads((self.place(name) / MARK).read_bytes())["wheels"])
        return ""

    @contextlib.contextmanager
    def locked(self, wait: Callable[[], None]) -> Iterator[None]:
        """For as long as this lasts nobody else makes one. ``wait`` is called first where somebody does."""
        self._folder.mkdir(exist_ok=True)
        descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                wait()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def remove_halves(self) -> None:
        """Remove what was begun and not finished."""
        for path in self._folder.iterdir():
            if path.is_dir() and not path.is_symlink() and not (path / MARK).exists():
                shutil.rmtree(path, ignore_errors=True)

    def finish(self, name: str, facts: dict[str, Any]) -> None:
        """Mark one as whole."""
        place = self.place(name)
        sync(place)
        part = place / f"{MARK}.part"
        with part.open("w") as file:
            file.write(json.dumps(facts) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(place / MARK)
        sync_folder(place)

    def unmark(self, name: str) -> None:
        """Take one for not whole: it was damaged."""
        (self.place(name) / MARK).unlink(missing_ok=True)

    def use(self, name: str) -> bool:
        """Have jobs that begin from now on run with one; False where they do already."""
        current = self.current()
        if current == name:
            return False
        if current is None:
            raise Refused(
                f"{self._link} is there, and was not made here. Move it away (mv {self._link} "
                f"{self._link}.own), or name its Python in conf.py: NODE_PYTHON = '{self._link}/bin/python'"
            )
        part = self._home / "venv.part"
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        part.symlink_to(Path(self._folder.name, name))
        part.replace(self._link)
        return True
