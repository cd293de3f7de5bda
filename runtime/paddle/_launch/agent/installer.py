"""Makes the virtual environment on a node that jobs run with, of wheels that are there already. No network.

It reads a line of JSON on standard input

    {"root", "name", "wheels", "tool", "packages", "modules", "size", "warmth"}
        name: of the environment; wheels: their folder; tool: pip's own wheel among them, which is run and not
        installed; packages: name -> version; modules: that must load; size: bytes of all that is unpacked;
        warmth: {"runtime", "module"}, a program of the runtime that compiles what jobs usually need, or null

which stays open for as long as somebody waits, and says on standard output, in lines of JSON,

    {"doing": text}                     what goes on now
    {"done": bool}                      whether anything was changed
    {"beat": 1}                         now and then, while it works
    {"failed": text, "refused": bool}   in place of "done"

It must never reach for anything but these wheels. Guarantee, by five rules:

1. Only the standard library is needed, and of that not ensurepip: some systems come without.
2. An environment gets its name's mark once every package was imported in it; before that no job runs with it.
3. One that is whole and works is not touched, nor one that a job may run with: another has another name.
4. When standard input ends, so does this, with all that it started. What is half then, the next one removes.
5. On a disk that is full nothing of it is kept.
"""

from __future__ import annotations

import errno
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import occupants
from .answers import Answers
from .environments import Environments
from .manifest import Refused
from .store import own_folder

_LONGEST = 400
# A program that ends with whoever started it, however that ends.
_BOUND = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv.pop(1)):
    sys.exit(1)
"""
_PIP = f"""{_BOUND}
import runpy
sys.path.insert(0, sys.argv.pop(1))
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_PIP_OPTIONS = (
    "--isolated",
    "--no-index",
    "--no-cache-dir",
    "--no-compile",  # what is imported while it is checked is compiled, and no more is needed soon
    "--no-input",
    "--no-warn-script-location",
    "--disable-pip-version-check",
    "--root-user-action=ignore",
    "--progress-bar=off",
    "--quiet",
)
_CHECK = f"""{_BOUND}
import importlib, importlib.metadata, json
packages, modules = json.loads(sys.argv[1])
for name, version in packages.items():
    try:
        has = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(f"{{name}} is not there")
    if has != version:
        sys.exit(f"{{name}} is {{has}}, not {{version}}")
for name in modules:
    try:
        importlib.import_module(name)
    except Exception as error:
        sys.exit(f"{{name}} cannot be imported: {{type(error).__name__}}: {{error}}")
"""
_WARM = f"""{_BOUND}
import runpy
sys.path.insert(0, sys.argv.pop(1))
sys.argv[:] = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


class Failed(Exception):
    """A program of the installation did not end well; the message is what it said."""


class Abandoned(Exception):
    """Nobody waits for it any more."""


class Installer:
    """One installation. ``waits``: a descriptor that ends when nobody waits; ``answers``: where to answer."""

    def __init__(self, order: Mapping[str, Any], waits: int, answers: int) -> None:
        self._order = order
        self._waits = waits
        self._answers = Answers(answers)
        self._say = self._answers.offer  # nobody listens: then standard input ends as well

    def run(self) -> int:
        """Install; gives the exit status."""
        with self._answers.beating():
            return self._run()

    def _run(self) -> int:
        try:
            changed = self._install()
        except Refused as error:
            return self._answers.fail(f"{error}.", refused=True)
        except Failed as error:
            return self._answers.fail(str(error))
        except Abandoned:
            return 1
        except OSError as error:
            return self._answers.fail_by(error, "ROOT_DIR in conf.py")
        self._say(done=changed)
        return 0

    def _install(self) -> bool:
        name, root = self._order["name"], Path(self._order["root"])
        if not root.is_absolute() or Path(name).name != name or name in ("", ".", ".."):
            raise Refused(f"{name!r} in {root} is not a place for an environment")
        root.mkdir(parents=True, exist_ok=True)
        environments = Environments(Path(own_folder(root)))
        with environments.locked(lambda: self._say(doing="waiting for another installation")):
            is_new = not (name in environments.whole() and self._works(environments, name))
            if is_new:
                self._make(environments, name)
            is_other = environments.use(name)
        self._warm(environments.place(name))
        return is_new or is_other

    def _works(self, environments: Environments, name: str) -> bool:
        """Whether one that was whole still is: somebody may have removed files, or the Python below it."""
        place = environments.place(name)
        try:
            self._check(place)
        except (Failed, OSError) as error:
            if user := occupants.find([place]).get(place):
                raise Refused(
                    f"{place} is damaged ({error}), and process {user.pid} ({user.name}) uses it. Stop that "
                    "job, then `fab install` makes it anew"
                ) from error
            environments.unmark(name)
            return False
        return True

    def _make(self, environments: Environments, name: str) -> None:
        environments.remove_halves()
        place = environments.place(name)
        if environments.current() is None:
            environments.use(name)  # which says why not, before anything was made
        free = shutil.disk_usage(place.parent).free
        if free < self._order["size"]:
            raise Refused(
                f"no room in {place.parent}: the packages need {self._order['size']:,} bytes, and it has "
                f"{free:,} left. Make room (`fab clean` removes what old jobs left), or say where else: "
                "ROOT_DIR in conf.py"
            )
        try:
            self._say(doing="making an environment")
            _make_empty(place)
            self._say(doing=f"installing {len(self._order['packages'])} packages")
            self._fill(place)
            self._check(place)
            environments.finish(name, dict(self._order))
        except Abandoned:
            raise
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise

    def _fill(self, place: Path) -> None:
        wheels = Path(self._order["wheels"])
        wanted = [f"{name}=={version}" for name, version in self._order["packages"].items()]
        call = (
            str(wheels / self._order["tool"]),
            "install",
            *_PIP_OPTIONS,
            f"--find-links={wheels}",
            *wanted,
        )
        own = place / "tmp"  # a /tmp may be small
        own.mkdir()
        said = self._bound(place, _PIP, *call, TMPDIR=str(own))
        shutil.rmtree(own, ignore_errors=True)
        if said:
            raise Failed(f"pip could not install there: {said}")

    def _check(self, place: Path) -> None:
        self._say(doing="checking that all can be imported")
        said = self._bound(place, _CHECK, json.dumps([self._order["packages"], self._order["modules"]]))
        if said:
            raise Failed(f"what was installed does not work there: {said}")

    def _warm(self, place: Path) -> None:
        """Only faster: where it fails the first job compiles what it needs."""
        if warmth := self._order["warmth"]:
            self._say(doing="compiling what jobs need")
            self._bound(place, _WARM, warmth["runtime"], warmth["module"])

    def _bound(self, place: Path, text: str, *arguments: str, **environ: str) -> str:
        """Run a program in an environment; gives the last words of one that failed, and nothing else."""
        argv = [str(place / "bin" / "python"), "-I", "-X", "utf8", "-c", text, str(os.getpid()), *arguments]
        with subprocess.Popen(
            argv,
            cwd="/",
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as child:
            said = self._listen(child)
        if not child.returncode:
            return ""
        if "No space left on device" in said or "Disk quota exceeded" in said:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place.parent))
        return _last_words(said.splitlines()) or f"status {child.returncode}"

    def _listen(self, child: subprocess.Popen[bytes]) -> str:
        """Read what a program complains of until it ends; end it where nobody waits for it any more."""
        assert child.stderr
        errors, said = child.stderr.fileno(), b""
        while True:
            ready, _, _ = select.select([self._waits, errors], [], [])
            if errors in ready:
                data = os.read(errors, 1 << 16)
                if not data:
                    break
                said = (said + data)[-(1 << 16) :]
            elif not os.read(self._waits, 1):
                child.kill()
                raise Abandoned
        return said.decode("utf-8", "replace")


def _make_empty(place: Path) -> None:
    """Make an environment in which there is nothing yet, not even pip."""
    try:
        import venv
    except ImportError as error:
        raise Refused(
            f"its Python {sys.executable} has no module venv, which is of the standard library ({error}). "
            "Install all of that Python (Debian: apt-get install python3), or name another one: "
            "fab install --python=/path/to/python3"
        ) from error
    venv.EnvBuilder(symlinks=True, with_pip=False).create(place)


def _last_words(lines: Iterable[str]) -> str:
    """What was wrong, of all that a program complained of."""
    said = [line.strip() for line in lines if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return " ".join(errors or said[-1:])[:_LONGEST]


def main() -> int:
    """Install once."""
    order = json.loads(sys.stdin.readline())
    return Installer(order, sys.stdin.fileno(), sys.stdout.fileno()).run()
