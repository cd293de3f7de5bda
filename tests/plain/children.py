"""Plans of processes that a test starts: what is found of them is written into a folder, which the test looks
into when it ends.

Whoever starts one by ``watched`` has it begin with child/sitecustomize.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

FOLDER = "TESTS_PLAIN_FOLDER"
CHILD = Path(__file__).with_name("child")


def begin() -> None:
    """Have a folder for the processes that this one starts from here on."""
    os.environ[FOLDER] = mkdtemp(prefix="plain")


def end() -> None:
    """Remove it."""
    folder = Path(os.environ.pop(FOLDER))
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def watched(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process whose plans are to be watched. It says where the runtime is."""
    places = os.pathsep.join([str(CHILD), environ["PYTHONPATH"]])
    return {FOLDER: os.environ[FOLDER], **environ, "PYTHONPATH": places}


def take() -> list[str]:
    """What processes have found since it was asked last."""
    said: list[str] = []
    for path in Path(os.environ[FOLDER]).glob("*.txt"):
        said += path.read_text().splitlines()
        path.unlink()
    return said


def report() -> None:
    """Called in such a process: have what is found be written at once, since it may be killed."""
    from tests.plain import watch

    class Written(watch.Watch):
        def run(self, *given: Any) -> Any:
            found = super().run(*given)
            self.write()
            return found

        def end(self, *given: Any) -> None:
            super().end(*given)
            self.write()

        def write(self) -> None:
            if not (said := self.take()):
                return
            place = Path(os.environ[FOLDER]) / str(os.getpid())
            with place.open("a") as file:
                file.writelines(" ".join(each.split()) + "\n" for each in said)
            place.rename(place.with_suffix(f".{os.urandom(4).hex()}.txt"))

    watch.watching = Written()
