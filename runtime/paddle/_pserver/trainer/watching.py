"""Watching: whether the machines of a job's servers are there, and theirs whether this one is. Blocking.

A connection on which nothing is said holds as long as both kernels answer each other: a process that stands
still, or a machine that is slow, is there; one that is off, or cut off, is not, and TCP says so.

It must never know what becomes of a job. Guarantee: a server that ends is not a machine that is lost.
"""

from __future__ import annotations

import math
from contextlib import closing

from paddle._pserver.protocol import link
from paddle._pserver.protocol.framing import small
from paddle._pserver.protocol.messages import Fallen, encode
from paddle._pserver.trainer.approach import Approach
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.places import parse_endpoint
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.token_file import token_of

_MOST = 1 << 16


def outlives(endpoint: str, will: Fallen, token_file: str = "", tls_ca: str = "") -> bool:
    """Come to a server, however long that takes, leave the ``will`` there, and wait until it is gone; whether
    its machine was lost, and it did not end. ``token_file``, ``tls_ca``: as trainers are told.

    Raises PserverError where it is no server of this job, BadTokenFile and BadTlsFile."""
    token = token_of(token_file, lambda text: None)
    trust = read_trust(tls_ca) if tls_ca else None
    server = f"parameter server at {endpoint}"
    approach = Approach(parse_endpoint(endpoint), server, token, trust, lambda text: None)
    stream, checks_body = approach.come(Deadline(math.inf), insists=True)
    with closing(stream):
        frame = small(*encode(will), checks_body=checks_body)
        assert frame is not None
        link.watch(stream, will.silent_s)
        stream.settimeout(None)
        try:
            stream.sendall(frame)
            while stream.recv(_MOST):  # that it has heard; more is not said
                pass
        except OSError as error:
            return link.is_lost(error)
    return False
