"""What workers do together beside training: files are shared out, numbers are added up, all are waited for.

Without a place to meet (upstream's gloo, PADDLE_WITH_GLOO=0) each worker is alone: a sum is its own part, and
nobody is waited for. It must never know how workers speak: ``meeting`` does.

Guarantee: every file is one worker's, and no two workers' shares differ by more than one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._fleet.errors import FleetError
from paddle._fleet.role_makers import RoleMakerBase

_WORLDS = ("worker", "server", "all")
_MODES = ("sum", "max", "min")


def share_of(files: Sequence[str], worker: int, workers: int) -> list[str]:
    """The files of one worker: a run of them, the first workers having one more where they do not divide."""
    each, more = divmod(len(files), workers)
    begin = worker * each + min(worker, more)
    return list(files[begin : begin + each + (worker < more)])


class UtilBase:
    """``fleet.util``."""

    def __init__(self, role_maker: RoleMakerBase | None = None, meeting: Any = None) -> None:
        self._role, self._meeting = role_maker, meeting

    def _set_role_maker(self, role_maker: RoleMakerBase) -> None:
        self._role = role_maker

    @property
    def role_maker(self) -> RoleMakerBase:
        """Who this process is."""
        if self._role is None:
            raise FleetError("fleet.init() comes before fleet.util: it says who this process is")
        return self._role

    def get_file_shard(self, files: list[str]) -> list[str]:
        """This worker's part of ``files``."""
        if not isinstance(files, list):
            raise TypeError("files should be a list of file need to be read.")
        return share_of(files, self.role_maker.worker_index(), self.role_maker.worker_num())

    def print_on_rank(self, message: Any, rank_id: int) -> None:
        """Print on the worker of that number alone."""
        if self.role_maker.is_worker() and self.role_maker.worker_index() == rank_id:
            print(message, flush=True)

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The sum, or the largest or smallest, of what all workers give, as an array of that shape."""
        _check(mode, _MODES, "mode")
        _check(comm_world, _WORLDS, "comm_world")
        if self._meeting is None:
            return input
        return self._meeting.all_reduce(np.asarray(input), mode, comm_world)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """What all workers give, in their order."""
        _check(comm_world, _WORLDS, "comm_world")
        return [input] if self._meeting is None else list(self._meeting.all_gather(input, comm_world))

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all workers have come here."""
        _check(comm_world, _WORLDS, "comm_world")
        if self._meeting is not None:
            self._meeting.barrier(comm_world)

    def all_to_all(self, parts: list[bytes], comm_world: str = "worker") -> list[bytes] | None:
        """What each of the others has for this one, in their order; None where this one is alone."""
        return None if self._meeting is None else list(self._meeting.all_to_all(parts, comm_world))


def _check(given: str, known: Sequence[str], name: str) -> None:
    if given not in known:
        raise FleetError(f"fleet.util: {name} is one of {', '.join(known)}, and not {given!r}")
