"""A removal that outlives its launcher: a program in a session of its own, for who waits no longer.

It must never know how a launch stands. Guarantee: nobody waits for it, and it ends by itself, whatever the
cluster does, ``_PATIENCE_S`` after it began and the last call behind that.

    python -P -m paddle._launch.kubernetes.sweeping CONTEXT NAMESPACE JOB
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes import removal
from paddle._launch.kubernetes.kubectl import Kubectl
from paddle._launch.plan import LaunchPlan

_RUNTIME = Path(__file__).resolve().parents[3]
_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class _At:
    context: str
    namespace: str


def begin(launch: LaunchPlan) -> bool:
    """Begin it; gives whether it runs."""
    assert launch.pods is not None
    paths = os.pathsep.join(filter(None, [str(_RUNTIME), os.environ.get("PYTHONPATH", "")]))
    command = (sys.executable, "-P", "-m", __name__, launch.pods.context, launch.pods.namespace, launch.name)
    try:
        subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": paths},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True


def main(context: str, namespace: str, job: str) -> int:
    """Take a job away."""
    try:
        for _ in removal.remove(Kubectl(_At(context, namespace)), job, _PATIENCE_S, lambda: False):
            pass
    except NodeError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
