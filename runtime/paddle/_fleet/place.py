"""Place: what one process of a job is, of how many, and where the others are.

Pure. It must never know an environment variable. Guarantee: a place is one that a job has: its number is in
range, and a parameter server has an address in the list.
"""

from __future__ import annotations

from dataclasses import dataclass

from paddle._fleet.errors import NoSuchProcess


class Role:
    """What a process is."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``id``: its number among those of its ``role``. ``servers`` and ``worker_endpoints``: ``host:port``, in
    order; the latter may be empty. ``is_distributed``: else one process does all."""

    role: int = Role.WORKER
    id: int = 0
    workers: int = 1
    servers: tuple[str, ...] = ()
    worker_endpoints: tuple[str, ...] = ()
    is_distributed: bool = True

    def __post_init__(self) -> None:
        own, all_of_them = ("workers", self.workers)
        if self.role == Role.SERVER:
            own, all_of_them = ("servers", len(self.servers))
        if not 0 <= self.id < all_of_them:
            raise NoSuchProcess(
                f"this process is number {self.id} of {all_of_them} {own}, counted from 0: no such one"
            )

    @property
    def endpoint(self) -> str:
        """Its own; empty where it was not told."""
        listed = self.servers if self.role == Role.SERVER else self.worker_endpoints
        return listed[self.id] if self.id < len(listed) else ""

    @property
    def nodes(self) -> int:
        """On how many machines the workers are, as far as that was told."""
        return len({endpoint.rpartition(":")[0] for endpoint in self.worker_endpoints}) or 1
