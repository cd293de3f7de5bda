"""Launches from the head of a lab to its nodes, and what is left of them there."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.cluster.by_hand import NETWORK
from tests.lab.cluster import Cluster
from tests.lab.machine import ROOT
from tests.lab.processes import Process
from tests.pretenders import PSERVER, RUNAWAY
from tests.waiting import PATIENCE_S, until

# Trains in step; trainer 1 is killed in the midst of a pass.
LOSES_ONE = f"""
import os, signal
import paddle.v2 as paddle

paddle.init()
me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
{NETWORK}
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=0.01), is_local=False)
words = [(each, each % 5) for each in range(me, 40, 2)]


def handler(event):
    if isinstance(event, paddle.event.EndIteration) and (me, event.batch_id) == (1, 3):
        os.kill(os.getpid(), signal.SIGKILL)


trainer.train(paddle.batch(lambda: iter(words * 5), 10), num_passes=2, event_handler=handler)
print("trained", flush=True)
"""
ROOT_DIR = "/srv/jobs"
PROMISED_S = 9.0
"""Five on a machine of its own, which others share here; less than the lease of ten, which ends all."""


class Job:
    """A launcher at the head, as users type it: ``python paddle.py``. But its pservers only pretend, or are
    real where none is given; and ``before`` is what Python is to do in it first."""

    def __init__(
        self,
        lab: Cluster,
        folder: Path,
        *argv: str | Path,
        train: str = RUNAWAY,
        pserver: str | None = PSERVER,
        hosts: Sequence[str] = (),
        conf: str = "",
        environ: dict[str, str] | None = None,
        package: Path | None = None,
        before: str = "",
        **popen: object,
    ) -> None:
        self.lab = lab
        self.package = package or folder / "package"
        self.output: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.package.mkdir(exist_ok=True)
        if package is None:
            (self.package / "train.py").write_text(train)
        hosts = hosts or [f"root@{name}" for name in lab.names]
        (folder / "conf.py").write_text(
            f"HOSTS = {list(hosts)}\nROOT_DIR = {ROOT_DIR!r}\nPADDLE_NIC = 'eth0'\n"
            f"PADDLE_PORTS_NUM_FOR_SPARSE = 1\n" + (conf or f"NODE_PYTHON = {sys.executable!r}\n")
        )
        program = [ROOT / "paddle.py"] if pserver is None and not before else _entry(folder, pserver, before)
        self.process = lab.start(
            *(sys.executable, *program, f"--conf={folder / 'conf.py'}", "-p", self.package, *argv),
            cwd=folder,
            environ={"PYTHONPATH": str(ROOT / "runtime"), **(environ or {})},
            text=True,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen},
        )

    def wait_for(self, words: str) -> None:
        """Read its output up to a line with ``words``."""
        assert self.process.stdout
        assert self.process.stderr
        for line in self.process.stdout:
            self.output.append(line)
            if words in line:
                return
        raise AssertionError(f"it ended without saying {words!r}: {self.output} {self.process.stderr.read()}")

    def wait_until_trained(self) -> None:
        """Wait until every trainer has printed ``family``, to the end of the line: Python writes it apart."""
        self.wait_for("trainer")
        for node in self.lab.names:
            until(
                lambda node=node: "family\n" in self.log(node, "train.log"), f"words of the trainer on {node}"
            )

    def end(self, patience_s: float = PATIENCE_S) -> tuple[int, str, str]:
        """Wait for its end; gives status, output and error output."""
        rest, errors = self.process.communicate(timeout=patience_s)
        print("".join(self.output) + rest, errors)
        return self.process.returncode, "".join(self.output) + rest, errors

    def stop(self, signum: int) -> tuple[str, float]:
        """Send a signal; gives the output, and how long it took until nothing of the job was left."""
        began = time.monotonic()
        self.process.send_signal(signum)
        all_gone(self.lab)
        took = time.monotonic() - began
        status, output, _ = self.end()
        assert status == 128 + signum
        assert f"stopped by {signal.Signals(signum).name}" in output
        return output, took

    def log(self, node: str, name: str) -> str:
        """A log of the one job on a node, as it is there now."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            (job,) = self.lab.path(node, ROOT_DIR).glob("JOB*")
            return (job / "log" / name).read_text()
        return ""

    def clean_up(self) -> None:
        """Leave nothing of it here."""
        self.process.kill()
        with contextlib.suppress(ValueError, BrokenPipeError), self.process:
            pass


@contextlib.contextmanager
def launching(lab: Cluster) -> Iterator[Callable[..., Job]]:
    """Start launchers, as Job does; in the end nothing of any is left, here and on the nodes."""
    started: list[Job] = []

    def start(*what: Any, **how: Any) -> Job:
        started.append(Job(*what, **how))
        return started[-1]

    yield start
    for job in started:
        job.clean_up()
    all_gone(lab)


def _entry(folder: Path, pserver: str | None, before: str) -> list[str]:
    """What Python is to do for a launcher of which something is not as users have it."""
    runtime = ROOT / "runtime" if pserver is None else pretended(folder / "runtime", pserver)
    main = (
        f"import sys; from pathlib import Path; from paddle._launch.cli import main; "
        f"sys.exit(main(sys.argv[1:], runtime=Path({str(runtime)!r})))"
    )
    return ["-c", f"{before}\n{main}"]


def pretended(runtime: Path, pserver: str) -> Path:
    """A runtime whose ``python -m paddle`` is ``pserver``."""
    (runtime / "paddle").mkdir(parents=True, exist_ok=True)
    (runtime / "paddle" / "__init__.py").write_text("")
    (runtime / "paddle" / "__main__.py").write_text(pserver)
    return runtime


def left(lab: Cluster, nodes: Sequence[str] = ()) -> dict[str, list[tuple[str, ...]]]:
    """What runs on nodes that sshd itself does not need."""
    return {
        node: words
        for node in nodes or lab.names
        if (words := [one.argv for one in lab.processes(node) if not is_sshd(one)])
    }


def left_behind(lab: Cluster) -> dict[str, list[tuple[str, ...]]]:
    """What of a job that has ended still runs on nodes: no role, at once. What nodes are asked and held with
    (parcel.py) ends a moment behind its connection."""
    soon = time.monotonic() + PROMISED_S
    while found := left(lab):
        roles = [argv for words in found.values() for argv in words if "exec(s)" not in argv[-1]]
        if roles or time.monotonic() > soon:
            return found
        threading.Event().wait(0.02)
    return {}


def agent_of(lab: Cluster, node: str) -> list[Process]:
    """Both halves of the one on a node; what the node was asked with ends a moment behind its connection."""

    def found() -> list[Process]:
        here = [one for one in lab.processes(node) if "exec(s)" in one.argv[-1]]
        return here if len(here) == 2 else []

    halves: list[Process] = until(found, f"an agent on {node}, and nothing beside it")
    return halves


def ports_to(job: Job, address: str) -> list[int]:
    """The launcher's ends of the connections to the sshd of a node."""
    there = "".join(f"{int(part):02X}" for part in reversed(address.split("."))) + ":0016"
    table = Path(f"/proc/{job.process.pid}/net/tcp").read_text().splitlines()[1:]
    rows = [row.split() for row in table]
    return [int(row[1].partition(":")[2], 16) for row in rows if (row[2], row[3]) == (there, "01")]


def all_gone(lab: Cluster, patience_s: float = PATIENCE_S, nodes: Sequence[str] = ()) -> None:
    """Wait until nothing of any job runs."""
    until(lambda: not left(lab, nodes), f"the end of all that runs: {left(lab, nodes)}", patience_s)


def jobs(lab: Cluster, node: str) -> list[str]:
    """The JOB folders on a node."""
    folder = lab.path(node, ROOT_DIR)
    return sorted(path.name for path in folder.glob("JOB*")) if folder.is_dir() else []


def clear(lab: Cluster) -> None:
    """Remove what earlier jobs left on the nodes."""
    for node in lab.names:
        lab.run("rm", "-rf", ROOT_DIR, at=node)


def is_sshd(process: Process) -> bool:
    return process.argv[0].startswith(("sshd", "/usr/sbin/sshd"))
