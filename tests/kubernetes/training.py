"""Launches from the head of a Kubernetes, as users type them, and what is left of them there."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.fresh import ROOT
from tests.lab.kubernetes.image import RUNTIME
from tests.lab.kubernetes.one_node import OneNode
from tests.waiting import until

PATIENCE_S = 600.0  # five pods compile their kernels on the cores that there are
KINDS = (
    "pods,services,secrets,configmaps,statefulsets.apps,jobs.batch,poddisruptionbudgets.policy,"
    "persistentvolumeclaims"
)
OF_A_NAMESPACE = ("kube-root-ca.crt", "default-token")  # what every one has, whoever uses it


class Job:
    """A launcher at the head: ``python paddle.py --platform=kubernetes``."""

    def __init__(self, process: subprocess.Popen[str], package: Path) -> None:
        self.process = process
        self.package = package
        self.output: list[str] = []

    def wait_for(self, words: str) -> str:
        """Read its output up to a line with ``words``; gives that line."""
        assert self.process.stdout and self.process.stderr
        for line in self.process.stdout:
            self.output.append(line)
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}: {self.output} {self.process.stderr.read()}")

    def end(self, patience_s: float = PATIENCE_S) -> tuple[int, str, str]:
        """Wait for its end; gives status, output and error output."""
        rest, errors = self.process.communicate(timeout=patience_s)
        output = "".join(self.output) + rest
        print(output, errors)
        return self.process.returncode, output, errors

    def log(self, node: int, name: str = "train.log") -> str:
        """A log that was collected, or is being followed."""
        with contextlib.suppress(FileNotFoundError):
            return (self.package / "log" / f"node-{node}" / name).read_text()
        return ""


class Training:
    """What somebody with a namespace can do."""

    def __init__(self, one_node: OneNode, space: str, folder: Path) -> None:
        self.one_node, self.space, self.folder = one_node, space, folder
        self._started: list[Job] = []
        conf = folder / "conf.py"
        conf.write_text("PADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
        self.chosen = (f"--conf={conf}",)  # by which launchers and tasks find each other

    def package(self, **files: str) -> Path:
        """A workspace with files, each named without its ``.py``."""
        package = self.folder / "package"
        package.mkdir(exist_ok=True)
        for name, text in files.items():
            (package / f"{name}.py").write_text(text)
        return package

    def start(self, package: Path, *flags: str, pservers: int = 2, trainers: int = 3) -> Job:
        """Start a launcher."""
        words = ["--platform=kubernetes", f"--namespace={self.space}", f"--image={RUNTIME}"]
        words += [
            f"--pserver_num={pservers}",
            f"--trainer_num={trainers}",
            f"--job_dispatch_package={package}",
        ]
        small = ["--pserver_cpu=100m", "--trainer_cpu=100m"]  # five pods, and two cores at most
        process = self._paddle(ROOT / "paddle.py", *self.chosen, *words, *small, *flags)
        self._started.append(Job(process, package))
        return self._started[-1]

    def fab(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a task of the fabfile, as somebody at another terminal."""
        done = self.one_node.run(
            *(sys.executable, "-m", "fabric", *words),
            cwd=ROOT,
            user="launcher",
            environ=self._environ,
            check=False,
        )
        print(done.stdout, done.stderr)
        return done

    def kubectl(self, *words: str, **how: Any) -> str:
        """Run kubectl in the namespace; gives what it prints."""
        return self.one_node.kubectl(*words, space=self.space, **how)

    def shell(self, command: str) -> str:
        """Run a command as a page shows it, in the project's folder; gives what it prints."""
        words = ("/bin/sh", "-euc", command)
        how: dict[str, Any] = {"space": self.space, "user": "launcher", "timeout_s": PATIENCE_S}
        return str(self.one_node.run(*words, cwd=ROOT, **how).stdout)

    def create(self, text: str) -> None:
        """Create what a file describes."""
        self.kubectl("create", "-f", "-", input=text, user="launcher")

    def pods(self, component: str = "") -> dict[str, Any]:
        """Pods of the namespace, by name."""
        chosen = [f"--selector=app.kubernetes.io/component={component}"] if component else []
        found = self.one_node.get("pods", *chosen, space=self.space)
        return {pod["metadata"]["name"]: pod for pod in found}

    def left(self) -> list[str]:
        """What of a job is there."""
        names = self.kubectl("get", KINDS, "--output=name").split()
        return [name for name in names if not any(usual in name for usual in OF_A_NAMESPACE)]

    def wait_for_log(self, pod: str, words: str) -> None:
        """Wait until a pod has printed words; else tell what it has."""
        try:
            until(lambda: words in self._log(pod), f"{words!r} of {pod}", PATIENCE_S)
        except AssertionError:
            print(self._log(pod))
            raise

    def _log(self, pod: str) -> str:
        return self.kubectl("logs", pod, check=False)

    def _paddle(self, *words: str | Path) -> subprocess.Popen[str]:
        return self.one_node.start(
            *(sys.executable, *words),
            cwd=self.folder,
            user="launcher",
            environ=self._environ,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def _environ(self) -> dict[str, str]:
        return {"PYTHONPATH": str(ROOT / "runtime"), "XDG_STATE_HOME": str(self.folder / "state")}

    def close(self) -> None:
        """Leave no launcher."""
        for job in self._started:
            job.process.kill()
            with contextlib.suppress(ValueError, BrokenPipeError), job.process:
                pass
