"""Fallen: servers are told that a process of their job has ended badly, by who runs it. Blocking, never for
ever.

It must never know why it fell. Guarantee: all servers are told at once, each as soon as it is there; what
could not be told is given back with its reason.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from paddle._pserver.errors import PserverError
from paddle._pserver.protocol.messages import Fallen
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.places import parse_endpoint
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.token_file import token_of

_ANSWER_S = 5.0


def tell(
    endpoints: Sequence[str],
    fallen: Fallen,
    within_s: float,
    notice: Callable[[str], None],
    token_file: str = "",
    tls_ca: str = "",
    *,
    insists: bool = True,
) -> list[str]:
    """Tell all servers. ``within_s``: how long one that cannot be reached is waited for, where this
    ``insists`` also one where nothing listens; ``token_file``, ``tls_ca``: as trainers are told.

    Gives why some were not told. Raises BadTokenFile and BadTlsFile."""
    token = token_of(token_file, notice)
    trust = read_trust(tls_ca) if tls_ca else None
    untold: list[str] = []

    def say(endpoint: str) -> None:
        host, port = parse_endpoint(endpoint)
        client = Client(
            host,
            port,
            "parameter server",
            call_timeout_s=_ANSWER_S,
            notice=lambda text: None,
            token=token,
            trust=trust,
        )
        try:
            client.connect(Deadline(within_s), insists=insists)
            client.send(fallen, asking="to hear who has fallen")
            client.answer()
        except PserverError as error:
            untold.append(str(error))
        finally:
            client.close()

    if len(endpoints) == 1:  # a process that ends may start no thread
        say(endpoints[0])
        return untold
    speaking = [threading.Thread(target=say, args=(each,), daemon=True) for each in endpoints]
    for thread in speaking:
        thread.start()
    for thread in speaking:
        thread.join()
    return untold
