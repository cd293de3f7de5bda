"""Says what this project has put on a node below ROOT_DIR, and removes of it what it is told to.

It reads a line of JSON on standard input

    {"root", "runtimes", "remove": null}               lists: what there is; runtimes: of the next launch
    {"root", "runtimes", "remove": [[path, number], ...], "all"}
        removes these, as they were listed; all: and then what is left of ``.paddle``

and says on standard output, in lines of JSON

    {"belonging": {...}}                see belongings.py
    {"strange": text}                   what has our names and is not ours, and why ROOT_DIR is left alone
    {"removed": path, "size": bytes}
    {"left": path, "why": text}
    {"beat": 1}                         now and then, while it works

It must never remove what it has not been told. Guarantee: what is removed was listed by its path and number
and is needed by nobody now; no link is followed. What has begun to be removed has lost its name first, so
nothing is used of which a part is missing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import remains
from .answers import Answers
from .belongings import NAMES, Belonging, Ground, check_ours, note_of
from .store import OWN, Store


class Cleaner:
    """One visit. ``now``: seconds since 1970."""

    def __init__(self, order: Mapping[str, Any], now: float) -> None:
        self._order = order
        self._root = Path(order["root"])
        self._ground = Ground(self._root, now, order["runtimes"])
        self._now = now
        self._answers = Answers(sys.stdout.fileno())
        self._say = self._answers.offer

    def run(self) -> int:
        """List, or remove; gives the exit status."""
        with self._answers.beating():
            self._run()
        return 0

    def _run(self) -> None:
        if not self._root.is_absolute() or self._root == Path("/"):
            self._say(strange=f"{self._root} is not cleaned: ROOT_DIR is to be a folder of its own")
        elif why := check_ours(self._ground.home):
            self._say(strange=f"{why}: nothing here is taken for ours")
        elif self._order["remove"] is None:
            self._list()
        else:
            self._remove({str(path): int(number) for path, number in self._order["remove"]})

    def _list(self) -> None:
        for one in self._ground.belongings():
            self._say(belonging=one._asdict())
        for text in self._ground.strange:
            self._say(strange=text)

    def _remove(self, wanted: Mapping[str, int]) -> None:
        """Remove what was listed, and what dispatches keep of that: files that are in no folder any more."""
        is_all = bool(self._order["all"])
        listed = self._ground.belongings()
        kept = {one.path: one.size for one in listed if one.kind == "store"}
        folders = [one for one in listed if one.kind != "store"]
        left = [one for one in folders if not self._remove_one(one, wanted, is_all=is_all)]
        for one in self._ground.belongings():
            if one.kind == "store" and not one.need:
                Store(self._root / one.path).note_all(0, self._now)
                self._say(removed=one.path, size=kept.get(one.path, 0))  # the rest was counted with its jobs
        if is_all and not left:
            self._remove_home()

    def _remove_one(self, one: Belonging, wanted: Mapping[str, int], *, is_all: bool) -> bool:
        """Remove a folder; False where it stays."""
        if wanted.get(one.path) != one.number:
            return False
        need, who = self._ground.need(one.path)
        if need and not (is_all and need == "next"):
            self._say(left=one.path, why=f"for {who}")
            return False
        place = self._root / one.path
        try:
            shutil.rmtree(remains.begin(place))
        except OSError as error:
            self._say(left=one.path, why=f"{error.filename}: {error.strerror}")
            return False
        if one.kind == "venv":
            self._unlink(one.path)
        note_of(self._ground.home, place).unlink(missing_ok=True)
        self._say(removed=one.path, size=one.size)
        return True

    def _unlink(self, path: str) -> None:
        """The link to an environment that is gone."""
        link = self._ground.home / "venv"
        if link.is_symlink() and os.readlink(link) == str(Path(path).relative_to(OWN)):  # noqa: PTH115
            link.unlink()

    def _remove_home(self) -> None:
        """Remove ``.paddle`` itself, of which nothing is needed; what is not ours in it stays."""
        home = self._ground.home
        if strangers := self._ground.strangers():
            self._say(left=OWN, why=f"there is {', '.join(strangers[:5])} in it, which is not ours")
        for name in NAMES:
            place = home / name
            with contextlib.suppress(OSError):
                if place.is_dir() and not place.is_symlink():
                    shutil.rmtree(place)
                else:
                    place.unlink()
        with contextlib.suppress(OSError):
            home.rmdir()
            self._say(removed=OWN, size=0)


def main() -> int:
    """List once, or remove once."""
    return Cleaner(json.loads(sys.stdin.readline()), time.time()).run()
