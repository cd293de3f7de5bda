"""Consistent cut: a snapshot of all shards of a running job, on demand. Blocking, and never for ever.

1.  All shards are looked at: which there are of how many, how far they are, and whether one is writing.
2.  In step a version is named that all of them are about to reach: soon, and later after every attempt that
    came too late. Where nothing moves it is the one that all have. Each holds a copy of it (demand.py).
3.  Once all hold theirs each is told to keep it. Where one does not hold it nobody writes any, and another
    version is named.
4.  Where trainers are not in step, every shard holds what it has.

It must never know what is trained. Guarantee: what is returned lasts on all shards, in step at one version;
else an error says which shard does not have it, and why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from paddle._pserver.errors import BadMessage, NoSnapshot
from paddle._pserver.options import Role
from paddle._pserver.protocol.messages import Held, Hold, Keep
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.places import Places, Where
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.token_file import token_of

_PAUSE_S = 0.1  # before shards that are writing are asked again


@dataclass(frozen=True, slots=True)
class Kept:
    """What one shard has: ``what`` it is, for people, which ``version``, in which ``folder``."""

    what: str
    version: int
    folder: str


def take(
    places: Places,
    timeout_s: float,
    notice: Callable[[str], None],
    token_file: str = "",
    tls_ca: str = "",
) -> list[Kept]:
    """Have a snapshot of every shard that lasts. ``timeout_s``: how long a shard may say nothing, and how
    long it may take until all hold theirs; writing takes what it takes. ``token_file``, ``tls_ca``: as
    trainers are told.

    Raises PserverError.
    """
    token = token_of(token_file, notice)
    trust = read_trust(tls_ca) if tls_ca else None
    shards: list[tuple[Role, Where]] = [
        *(("dense", place) for place in places.dense),
        *(("sparse", place) for place in places.sparse),
    ]
    with ExitStack() as stack:
        clients: list[Client] = []
        for role, place in shards:
            client = Client(
                place.host,
                place.port,
                f"{role} shard",
                call_timeout_s=timeout_s,
                notice=notice,
                token=token,
                trust=trust,
                path=place.path,
            )
            stack.callback(client.close)
            client.connect(Deadline(timeout_s), insists=False)
            clients.append(client)
        cut = ConsistentCut(clients)
        cut.check([role for role, _ in shards])
        held = cut.hold(time.monotonic() + timeout_s)
        return cut.keep(held)


class ConsistentCut:
    """See the module's text. ``clients``: connections to all shards."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self._clients = list(clients)

    def check(self, roles: Sequence[Role]) -> None:
        """Raise NoSnapshot where these, of such ``roles``, are not all shards of a job: a part of it is no
        snapshot."""
        given = {role: roles.count(role) for role in roles}
        numbers = {role: iter(range(count)) for role, count in given.items()}
        seen = self._ask(Hold())
        for role, client, each in zip(roles, self._clients, seen, strict=True):
            if (each.shard, each.shards) != (next(numbers[role]), given[role]):
                raise NoSnapshot(
                    f"{client.what} is number {each.shard} of {each.shards} of its job, and these are "
                    f"{given[role]}: {_ALL}"
                )
        if any(each.has_sparse for each in seen) and "sparse" not in given:
            raise NoSnapshot(f"the job has sparse parameters, and no sparse shard was named: {_ALL}")

    def hold(self, deadline: float) -> list[Held]:
        """All hold a copy when this returns. Raises NoSnapshot at the first attempt that fails after
        ``deadline`` (``time.monotonic()``)."""
        seen, margin = self._ask(Hold()), 0
        while True:
            last, seen = seen, self._ask(Hold())
            is_busy = any(each.is_busy for each in seen)
            margin = max(margin, 2 * (_newest(seen) - _newest(last)))
            version = _newest(seen) + margin
            if not is_busy:
                seen = self._ask(Hold(version))
                if all(each.holds for each in seen):
                    return seen
                has_passed = any(each.version > version for each in seen)
                margin = max(1, 2 * margin) if has_passed else 0  # else it was not reached: it stands still
            if time.monotonic() >= deadline:
                raise NoSnapshot(self._why(seen))
            if any(each.is_busy for each in seen):
                time.sleep(_PAUSE_S)

    def keep(self, held: Sequence[Held]) -> list[Kept]:
        """What all hold lasts when this returns."""
        for client in self._clients:
            client.send(Keep(), asking="to keep its snapshot")
        kept: list[Kept] = []
        for client, each in zip(self._clients, held, strict=True):
            kept.append(Kept(client.what, client.answer().version, each.folder))
        return kept

    def _ask(self, hold: Hold) -> list[Held]:
        for client in self._clients:
            client.send(hold, asking="for a snapshot")
        return [_heard(client) for client in self._clients]

    def _why(self, seen: Sequence[Held]) -> str:
        pairs = zip(self._clients, seen, strict=True)
        busy = [client.what for client, each in pairs if each.is_busy]
        if busy:
            return f"{', '.join(busy)} writes another snapshot all the time: try again, or give it longer"
        versions = ", ".join(str(each.version) for each in seen)
        return f"no version could be named that all shards hold; they are at {versions}: try again"


_ALL = "give the --pservers, --port, --ports_num and --ports_num_for_sparse that trainers have"


def _heard(client: Client) -> Held:
    reply = client.receive()
    if not isinstance(reply, Held):
        raise BadMessage(f"{client.what} was asked for a snapshot and answered {type(reply).__name__}")
    return reply


def _newest(seen: Sequence[Held]) -> int:
    return max(each.version for each in seen)
