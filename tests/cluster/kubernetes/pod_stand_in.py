"""A container of tests (cluster.py): runs the command of its manifest, hands on what asks it to end, and says
in the file ``status`` how it ended. The first argument is the pod's restartPolicy: where that is Always, the
container is begun again, as a kubelet does, and the file ``ends`` says how each one before has ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

policy, *command = sys.argv[1:]
is_asked = False
process: subprocess.Popen[bytes]


def end(*_: object) -> None:
    global is_asked
    is_asked = True
    process.terminate()


def say(name: str, text: str) -> None:
    part = Path(f"{name}.part")
    part.write_text(text)
    part.rename(name)


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
signal.signal(signal.SIGTERM, end)
ends: list[int] = []
while True:
    process = subprocess.Popen([sys.executable, *command])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    status = process.wait()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    ends.append(status if status >= 0 else 128 - status)
    if is_asked or policy != "Always" or not ends[-1]:
        break
    say("ends", json.dumps(ends))
say("status", str(ends[-1]))
