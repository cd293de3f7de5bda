"""What contenders share: the package, the nodes, what is timed and what is looked at afterwards.

``full``: nodes have nothing, and nobody knows a digest. ``replaced``: they have the package, in which one
file has changed, and get it in the same place. ``beside``: likewise, but it goes into a new folder, as that
of a new job does, and the old one stays as it is.
"""

from __future__ import annotations

import hashlib
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from benchmarks.dispatch import NODES
from benchmarks.environment import ROOT
from benchmarks.worker import Work
from tests.lab.lab import Lab

PLACE = Path("/var/jobs")
# package, place of the last deployment or None, place of this one
Deploy = Callable[["Field", Path | None, Path], None]


class Field:
    """Nodes, a package and a way to deploy it."""

    def __init__(self, settings: Mapping[str, object], deploy: Deploy) -> None:
        self._stack = ExitStack()
        self._deploy = deploy
        self._what = settings["what"]
        self._count = 0
        self._last: Path | None = None
        self._place = PLACE
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        self.package = folder / "package"
        self.cache = folder / "digests"
        self._files = _make(self.package, int(str(settings["megabytes"])), int(str(settings["files"])))
        self.lab = self._stack.enter_context(Lab(NODES, disk_mb=1500, shares=_seen()))
        self._stack.enter_context(self.lab.inside())
        self._pool = self._stack.enter_context(ThreadPoolExecutor(NODES))

    def each(self, do: Callable[[int, str], None]) -> None:
        """Do something for all nodes at once: their numbers, and their names."""
        list(self._pool.map(do, range(NODES), self.lab.names))

    @property
    def ssh(self) -> list[str]:
        """The client of OpenSSH, and where its settings are."""
        return ["ssh", "-F", str(self.lab.home.ssh_config), "-l", "root"]

    def deploy(self, count: int) -> None:
        """Deploy, once nodes are ready for it."""
        assert count == 1
        self._deploy(self, self._last, self._place)
        self._last = self._place

    def work(self) -> Work:
        """Have the nodes ready, and find out what they have after a deployment."""
        self._wipe()
        for _ in range(2):
            self._make_ready()
            self.deploy(1)
        answer = self._answer()
        return Work(
            run=self.deploy,
            answer=answer,
            close=self._stack.close,
            beside=self._cpu_s,
            check=self._answer,
            ready=self._make_ready,
        )

    def _make_ready(self) -> None:
        """Have nodes and the package as they are to be before a deployment, which is then one of its kind."""
        if self._what == "full":
            self._wipe()
            self._last = None
        else:
            self._change()
        if self._what != "beside":
            self._place = PLACE / "W"
            return
        if self._count > 2:
            self._forget(PLACE / f"JOB{self._count - 2}")
        self._place = PLACE / f"JOB{self._count}"
        self._count += 1

    def _answer(self) -> float:
        """A number of all that is on the nodes, which is to be that of the package."""
        assert self._last is not None
        wanted = _digest(self.package)
        for node in self.lab.names:
            if _digest(self.lab.path(node, self._last)) != wanted:
                raise RuntimeError(f"{node} has something else than was sent")
        return float(sum(path.stat().st_size for path in self._files))

    def _cpu_s(self) -> float:
        """Of all nodes, and of the processes that were started here and have ended."""
        lines = (self.lab.group.path / "cpu.stat").read_text().splitlines()
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return int(lines[0].split()[1]) / 1e6 + spent.ru_utime + spent.ru_stime

    def _change(self) -> None:
        """Change the middle of one file."""
        with self._files[7].open("r+b") as file:
            file.seek(1000)
            file.write(os.urandom(5000))

    def _wipe(self) -> None:
        self._forget(PLACE)
        self.cache.unlink(missing_ok=True)

    def _forget(self, place: Path) -> None:
        for node in self.lab.names:
            shutil.rmtree(self.lab.path(node, place), ignore_errors=True)
            self.lab.path(node, PLACE).mkdir(exist_ok=True)


def _make(package: Path, megabytes: int, files: int) -> list[Path]:
    sizes, paths = random.Random(1), []
    for number in range(files):
        folder = package / f"d{number % 20}" / f"s{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        paths.append(folder / f"f{number}.bin")
        paths[-1].write_bytes(os.urandom(int(megabytes * 1e6 / files * (0.5 + sizes.random()))))
    (package / "train.py").write_text("")
    os.truncate(paths[0], 100_000)  # so that the sum, which is the answer, is known to all alike
    return paths


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _seen() -> list[Path]:
    return [Path(sys.prefix), Path(sys.base_prefix), ROOT / "runtime"]
