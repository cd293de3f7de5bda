"""Machines of ssh_servers.yaml, head.yaml and mpi-nodes.yaml, for somebody who logs in from the head."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.fresh import ROOT
from tests.lab.kubernetes.one_node import OneNode

CLUSTER = ROOT / "cluster"
KEYS = CLUSTER / "openmpi" / "docker_cluster" / "keys.sh"
USER = "tutorial"
PATIENCE_S = 600.0
_SHIM = '#!/bin/sh\nexec /usr/bin/{program} -F "{config}" "$@"\n'


class Machines:
    """Those of one namespace. ``folder``: where a user's commands run, with the keys in ``ssh/``."""

    def __init__(self, one_node: OneNode, space: str, folder: Path) -> None:
        self.one_node, self.space = one_node, space
        self.folder = folder / "somewhere"
        self.folder.mkdir()
        self._agent: subprocess.Popen[bytes] | None = None
        self._environ: dict[str, str] = {}

    def create(self, *files: Path) -> None:
        """Make keys and machines, as the files themselves say, and wait for these."""
        names = [file.stem.replace("_", "-") for file in files]
        for file in files:
            shutil.copy(file, self.folder)
        self._prepare_ssh()
        self.run(f"sh {KEYS} | kubectl create -f -")
        for file in files:
            self.run(f"kubectl create -f {file.name}")
        for name in names:
            self.run(f"kubectl rollout status --timeout={PATIENCE_S:.0f}s deployment/{name}")

    def _prepare_ssh(self) -> None:
        """Have OpenSSH look into a folder of this test rather than into its user's home, and an agent."""
        config = self.folder / "config"
        known = f"UserKnownHostsFile {self.folder / 'known'}\nGlobalKnownHostsFile none\n"
        config.write_text(f"Host *\n{known}StrictHostKeyChecking accept-new\nLogLevel ERROR\nBatchMode yes\n")
        programs = self.folder / "bin"
        programs.mkdir()
        for program in ("ssh", "scp"):
            (programs / program).write_text(_SHIM.format(program=program, config=config))
            (programs / program).chmod(0o755)
        socket = self.folder / "agent"
        self._agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
        path = f"{programs}:{self.one_node.environ()['PATH']}"
        self._environ = {"SSH_AUTH_SOCK": str(socket), "PATH": path}

    def run(self, script: str, *, check: bool = True) -> str:
        """Run a script in that folder, with kubectl in that namespace; gives what it prints."""
        done = self.one_node.run(
            *("/bin/bash", "-euo", "pipefail", "-c", script),
            cwd=self.folder,
            space=self.space,
            environ=self._environ,
            check=check,
            timeout_s=PATIENCE_S,
        )
        print(done.stdout, done.stderr)
        return done.stdout

    def addresses(self, name: str) -> list[str]:
        """As a user reads them."""
        return self.run(f"kubectl get po -o wide | grep {name} | awk '{{print $6}}'").split()

    def close(self) -> None:
        """End the agent."""
        if self._agent:
            self._agent.terminate()
            self._agent.wait()
