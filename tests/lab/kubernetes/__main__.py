"""A Kubernetes of one node to look around in: a shell at its head, which it ends with.

    .venv/bin/python -m tests.lab.kubernetes [FOLDER [SCRIPT]]

In the project's folder. FOLDER: where build.sh has put Kubernetes, usually /var/cache/paddle-kubernetes.
SCRIPT: what the shell is to run. kubectl is its administrator's; $LAUNCHER is the KUBECONFIG of one who may
launch into the namespace ``training``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fresh import ROOT
from tests.lab.kubernetes.one_node import OneNode

CACHE = Path("/var/cache/paddle-kubernetes")
SPACE = "training"


def main(programs: Path = CACHE, *script: str) -> int:
    """Have one for the time of a shell; gives its status."""
    with OneNode(programs) as node:
        node.enter(SPACE)
        environ = {"LAUNCHER": str(node.configuration("launcher", SPACE)), "LAB": str(node.folder)}
        words = ("/bin/bash", *script) if script else ("/bin/bash", "--norc")
        with node.start(*words, cwd=ROOT, environ=environ, stdin=None) as shell:
            return shell.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else CACHE, *sys.argv[2:]))
