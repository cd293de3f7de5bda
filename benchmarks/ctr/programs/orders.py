"""What a process of the job is told, line by line of JSON on a unix socket whose path is in CTR_ORDERS.

It runs in every Python of the peers (3.7 and later), beside their packages and not beside ours. The end of
the connection is the order to leave.
"""

import json
import os
import socket


class Orders:
    """The connection. A process says at once what it is, and its number."""

    def __init__(self, role):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(os.environ["CTR_ORDERS"])
        self._lines = self._socket.makefile("r")
        self.tell(role=role, pid=os.getpid())

    def tell(self, **news):
        """A line to who gives orders."""
        self._socket.sendall(json.dumps(news).encode() + b"\n")

    def obey(self, steps):
        """Until the end: do as many blocks of steps as are ordered, and say what the last one gave."""
        for line in self._lines:
            cost = None
            for _ in range(json.loads(line)["blocks"]):
                cost = steps()
            self.tell(cost=cost)
