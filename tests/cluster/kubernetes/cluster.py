"""A stand-in for a cluster, and for the kubectl that leads to it.

``kubectl`` on PATH is a program that keeps objects as files in a folder and says what it was asked. Its pods
run: each container's command is a process of this machine, with what the manifest mounts laid in a folder of
its own. So what is tested is what would run, but for the kubelet: the real one is asked in tests/kubernetes.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddle._launch.agent.processes import descendants
from tests.fresh import ROOT
from tests.launch.kubernetes.rights import granted, needed

PROGRAM = Path(__file__).with_name("kubectl_stand_in.py")


def _network() -> int:
    """The first of two of its own, 127.0.N.0/24: processes that share out the tests have each theirs."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return 100 + 2 * ((os.getppid() + worker) % 70)


def _command(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []


class StandIn:
    """One, in ``folder``; ``environ``: for who is to use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.objects = folder / "objects"
        self.objects.mkdir(parents=True)
        own = folder / "bin"
        own.mkdir()
        (own / "kubectl").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {PROGRAM} {folder} "$@"\n')
        (own / "kubectl").chmod(0o755)
        self.environ = {
            **os.environ,
            "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
            "STAND_IN_NETWORK": str(_network()),
            "PYTHONPATH": f"{ROOT / 'runtime'}{os.pathsep}{PROGRAM.with_name('resolving')}",
        }
        self.environ.pop("PYTEST_CURRENT_TEST", None)

        self.is_at("stand-in", "training")

    def is_at(self, context: str, namespace: str) -> None:
        """What kubectl has from now on, for who gives it none."""
        known = [{"name": name, "context": {"namespace": namespace}} for name in {context, "far"}]
        (self.folder / "config").write_text(json.dumps({"current-context": context, "contexts": known}))

    def places(self) -> set[str]:
        """The contexts and namespaces in which it was asked anything."""
        said = (line.split(" ", 1) for line in (self.folder / "places").read_text().splitlines())
        return {place for asked, place in said if asked != "config"}

    def calls(self) -> list[list[str]]:
        """What kubectl was asked, without context and namespace."""
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def named(self) -> set[str]:
        """What is there."""
        return {path.name for path in self.objects.iterdir()}

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Objects of a kind."""
        return [json.loads(path.read_text()) for path in sorted(self.objects.glob(f"{kind}.*"))]

    def says(self, **what: str) -> None:
        """What kubectl refuses, by the first words of what it is asked: with which words."""
        (self.folder / "refuses").write_text(json.dumps(what))

    def fails(self, asked: str, said: str, times: int = 1) -> None:
        """So often it refuses what begins with these words."""
        failure = {"asked": asked, "said": said, "times": times}
        (self.folder / f"fails.{asked.replace(' ', '-')}").write_text(json.dumps(failure))

    def hangs(self, asked: str) -> None:
        """It never ends when it is asked what begins with these words."""
        (self.folder / f"hangs.{asked.replace(' ', '-')}").write_text(asked)

    def answers(self) -> None:
        """It hangs no more."""
        for path in self.folder.glob("hangs.*"):
            path.unlink()

    def pods_wait(self, reason: str, message: str) -> None:
        """No pod runs, since."""
        (self.folder / "waits").write_text(json.dumps({"reason": reason, "message": message}))

    def crashes(self, pod: str, state: dict[str, Any], last: dict[str, Any], *log: str) -> None:
        """In a pod a container has ended: how it stands now, how the one before ended, and what that said."""
        told = {"state": state, "lastState": last, "restartCount": 1, "log": log}
        (self.folder / f"crashed.{pod}").write_text(json.dumps(told))

    def pod(self, kind: str, rank: int = 0) -> Path:
        """The folder of the one pod of a role."""
        (found,) = (self.folder / "pods").glob(f"*-{kind}-{rank}")
        return found

    def loses(self, kind: str, rank: int) -> None:
        """The pod of a role vanishes with its machine, and what made it, if a Job did, by whoever swept."""
        folder = self.pod(kind, rank)
        pid = int((folder / "pid").read_text())
        folder.rename(self.folder / f"lost.{folder.name}")
        os.killpg(pid, signal.SIGKILL)
        (self.objects / f"job.{folder.name}").unlink(missing_ok=True)

    def kills_inside(self, kind: str, rank: int, *words: str) -> None:
        """In the pod of a role the first process whose command has these words is killed, and no other."""
        for process in descendants(int((self.pod(kind, rank) / "pid").read_text())):
            if set(words) <= set(_command(process.pid)):
                os.kill(process.pid, signal.SIGKILL)
                return
        raise AssertionError(f"nothing of {words} runs in {kind}-{rank}")

    def makes_no_pods(self, why: str) -> None:
        """Who is to make pods is refused them, since."""
        (self.folder / "makes_none").write_text(why)

    def close(self) -> None:
        """End what runs."""
        for path in [*self.folder.glob("pods/*/pid"), *self.folder.glob("lost.*/pid")]:
            with contextlib.suppress(OSError, ValueError):
                os.killpg(int(path.read_text()), signal.SIGKILL)


@contextlib.contextmanager
def stand_in(folder: Path) -> Iterator[StandIn]:
    """One, and none of its pods behind it; nothing was asked of it that role.yaml does not grant."""
    made = StandIn(folder)
    try:
        yield made
    finally:
        made.close()
    for words in made.calls():
        assert needed(words) <= granted(), words
