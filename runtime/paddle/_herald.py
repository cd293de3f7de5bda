"""Herald: tells the servers of a job which of its processes has fallen.

    python -m paddle._herald

The launcher of one of several machines runs it (``_launch/fleet/heralding.py``), in the folder and with the
environment of the job's processes, and writes one line: what is to be told, as JSON. It must never know a
launcher. Guarantee: it ends when all are told, when its time is over, or when its input ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from paddle._launch.environ import read_init
from paddle._pserver.errors import PserverError
from paddle._pserver.protocol.messages import Fallen
from paddle._pserver.trainer.fallen import tell
from paddle._visible import visible


def main() -> int:
    """Tell all; 0 if all were told."""
    told = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_launcher, daemon=True).start()
    flags = read_init({}, os.environ)
    fallen = Fallen(told["text"], told["trainer"])
    trust = (flags.token_file, flags.tls_ca)
    try:
        untold = tell(told["servers"], fallen, told["within_s"], _say, *trust, insists=told["insists"])
    except PserverError as error:
        untold = [str(error)]
    for text in untold if told["insists"] else ():  # else those that are not there are over
        _say(f"a server does not know that the job is over: {text}")
    return int(bool(untold))


def _leave_with_launcher() -> None:
    sys.stdin.read()
    os._exit(1)


def _say(text: str) -> None:
    print(visible(f"paddle.distributed.launch: {text}"), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
