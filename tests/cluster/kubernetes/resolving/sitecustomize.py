"""Where this is on PYTHONPATH, pods of the stand-in (cluster.py) are found by their names."""

import os
import re
import socket

_ask = socket.getaddrinfo
_FIRST = int(os.environ["STAND_IN_NETWORK"])
_NETWORKS = {"pserver": _FIRST, "trainer": _FIRST + 1}


def _found(host, *more, **named):
    pod = re.fullmatch(r"([-\w]+)-(pserver|trainer)-(\d+)\.\1", str(host))
    return _ask(f"127.0.{_NETWORKS[pod[2]]}.{int(pod[3]) + 1}" if pod else host, *more, **named)


socket.getaddrinfo = _found
