"""Forewarning: a worker that fails before it has met the servers tells them, where no launcher does.

The launcher of a job sees how its processes end; who starts them by hand has none, and the others would wait
for a worker that does not come. It must never know a program. Guarantee: nothing is told of a worker that
ends well, nor twice; it takes a few seconds at most. A process that is killed tells nothing.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from contextlib import suppress

from paddle import _exits
from paddle._fleet.commands import are_commands
from paddle._fleet.place import Place, Role
from paddle._goodbye import uncaught

_LAUNCHED = "PADDLE_JOB_ID"
_WITHIN_S = 3.0


def tell_if_it_fails(place: Place, has_come: Callable[[], bool]) -> None:
    """From now on. ``has_come``: whether the servers hear of it anyway."""
    is_by_hand = place.is_distributed and not os.environ.get(_LAUNCHED) and not are_commands(place)
    if is_by_hand and place.role == Role.WORKER:
        _exits.listen()
        atexit.register(_tell, place, has_come, os.getpid())


def _tell(place: Place, has_come: Callable[[], bool], process: int) -> None:
    failure = uncaught()
    if failure is None or os.getpid() != process or has_come():
        return
    from paddle._launch.environ import read_ways
    from paddle._launch.errors import LaunchError
    from paddle._pserver.errors import PserverError
    from paddle._pserver.protocol.messages import Fallen
    from paddle._pserver.trainer.fallen import tell

    text = f"trainer {place.id} failed before it came to the servers (fleet.init_worker): {failure}"
    with suppress(LaunchError, PserverError, ValueError):  # they are not told, and miss it in time
        flags = read_ways(os.environ)
        for server in place.servers:
            tell(
                [server],
                Fallen(text, place.id),
                _WITHIN_S,
                _say_nothing,
                flags.token_file,
                flags.tls_ca,
                insists=False,
            )


def _say_nothing(text: str) -> None:
    pass
