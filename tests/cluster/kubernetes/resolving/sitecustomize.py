"""Where this is on PYTHONPATH, pods of the stand-in (cluster.py) are found by their names."""

import re
import socket

_ask = socket.getaddrinfo
_NETWORKS = {"pserver": 71, "trainer": 72}


def _found(host, *more, **named):
    pod = re.fullmatch(r"(\w+)-(pserver|trainer)-(\d+)\.\1", str(host))
    return _ask(f"127.0.{_NETWORKS[pod[2]]}.{int(pod[3]) + 1}" if pod else host, *more, **named)


socket.getaddrinfo = _found
