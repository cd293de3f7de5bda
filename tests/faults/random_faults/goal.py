"""Goal: how far trainers may go, in a file that their processes look at: so that all stop at one step, and
none of them must be told."""

from __future__ import annotations

import struct
import threading
from pathlib import Path

_FORM = struct.Struct("<QB")
_LOOK_S = 0.004


class Goal:
    """What is in the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.steps = 0
        self._write(is_final=False)

    def raise_to(self, steps: int) -> None:
        """So many steps may be made."""
        if steps > self.steps:
            self.steps = steps
            self._write(is_final=False)

    def end(self, *, at_once: bool) -> None:
        """No more than these; or none any more."""
        self.steps = 0 if at_once else self.steps
        self._write(is_final=True)

    def _write(self, *, is_final: bool) -> None:
        new = self._path.with_suffix(".new")
        new.write_bytes(_FORM.pack(self.steps, is_final))
        new.replace(self._path)

    @staticmethod
    def wait(path: Path, steps: int) -> bool:
        """Wait until more than ``steps`` may be made; False: there will be no more."""
        while True:
            goal, is_final = _FORM.unpack(path.read_bytes())
            if steps < goal or is_final:
                return bool(steps < goal)
            threading.Event().wait(_LOOK_S)
