"""Herald: tells the servers of a job which of its processes has fallen.

    python -m paddle._herald

The launcher of one of several machines runs it (``_launch/fleet/heralding.py``), in the folder and with the
environment of the job's processes, and writes lines of JSON: the first is what is to be told when no other
comes, for then there is no launcher any more; the second is told at once. It must never know a launcher.
Guarantee: it ends when all are told, or when its time is over.
"""

from __future__ import annotations

import json
import os
import sys

from paddle._visible import visible


def main() -> int:
    """Tell all; 0 if all were told."""
    first = sys.stdin.readline()
    told = json.loads(sys.stdin.readline() or first)
    from paddle._launch.environ import read_init  # not before: mostly there is nothing to be told
    from paddle._pserver.errors import PserverError
    from paddle._pserver.protocol.messages import Fallen
    from paddle._pserver.trainer.fallen import tell

    flags = read_init({}, os.environ)
    fallen = Fallen(told["text"], told["trainer"], told["other"])
    trust = (flags.token_file, flags.tls_ca)
    try:
        untold = tell(told["servers"], fallen, told["within_s"], _say, *trust, insists=told["insists"])
    except PserverError as error:
        untold = [str(error)]
    for text in untold if told["insists"] else ():  # else those that are not there are over
        _say(f"a server does not know that the job is over: {text}")
    return int(bool(untold))


def _say(text: str) -> None:
    print(visible(f"paddle.distributed.launch: {text}"), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
