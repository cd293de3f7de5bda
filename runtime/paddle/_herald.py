"""Herald: tells the servers of a job which of its processes has fallen, and watches whether their machines
are there.

    python -m paddle._herald

The launcher of one of several machines runs it (``_launch/fleet/heralding.py``), in the folder and with the
environment of the job's processes, and writes lines of JSON: the first is what is to be told when no other
comes, for then there is no launcher any more; the second is told at once. Meanwhile it has a connection to
each server of other machines; one whose machine is lost is written, with its number, as a line to stdout. And
such a server knows by that connection that this machine is there. It must never know a launcher. Guarantee:
it ends when all are told, or when its time is over.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any

from paddle._visible import visible


def main() -> int:
    """Tell all; 0 if all were told."""
    first = sys.stdin.readline()
    _watch(json.loads(first))
    told = json.loads(sys.stdin.readline() or first)
    from paddle._launch.environ import read_ways
    from paddle._pserver.errors import PserverError
    from paddle._pserver.protocol.messages import Fallen
    from paddle._pserver.trainer.fallen import tell

    flags = read_ways(os.environ)
    fallen = Fallen(told["text"], told["trainer"], told["other"])
    trust = (flags.token_file, flags.tls_ca)
    try:
        untold = tell(told["servers"], fallen, told["within_s"], _say, *trust, insists=told["insists"])
    except PserverError as error:
        untold = [str(error)]
    for text in untold if told["insists"] else ():  # else those that are not there are over
        _say(f"a server does not know that the job is over: {text}")
    return int(bool(untold))


def _watch(told: dict[str, Any]) -> None:
    """Begin to watch the servers of other machines, each by a thread."""
    for number in told["watched"]:
        threading.Thread(target=_outlive, args=(told, number), daemon=True).start()


def _outlive(told: dict[str, Any], number: int) -> None:
    from paddle._launch.environ import read_ways
    from paddle._pserver.errors import PserverError
    from paddle._pserver.protocol.messages import Fallen
    from paddle._pserver.trainer.watching import outlives

    flags = read_ways(os.environ)
    will = Fallen(told["lost"], told["lost_trainer"], told["lost_other"], told["silent_s"])
    with suppress(PserverError):  # whoever trains there will say so
        if outlives(told["servers"][number], will, flags.token_file, flags.tls_ca):
            print(number, flush=True)


def _say(text: str) -> None:
    print(visible(f"paddle.distributed.launch: {text}"), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
