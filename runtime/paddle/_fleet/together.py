"""What workers do together beside training: files are shared out, numbers are added up, all are waited for.

Without a place to meet (upstream's gloo, PADDLE_WITH_GLOO=0) each worker is alone (alone.py). It must never
know how workers speak: the role maker's ``meeting`` does.

Guarantee: every file is one worker's, and no two workers' shares differ by more than one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._fleet.errors import FleetError
from paddle._fleet.role_makers import RoleMakerBase


def share_of(files: Sequence[str], worker: int, workers: int) -> list[str]:
    """The files of one worker: a run of them, the first workers having one more where they do not divide."""
    each, more = divmod(len(files), workers)
    begin = worker * each + min(worker, more)
    return list(files[begin : begin + each + (worker < more)])


class UtilBase:
    """``fleet.util``."""

    def __init__(self, role_maker: RoleMakerBase | None = None) -> None:
        self._role = role_maker

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
        return self.role_maker.meeting.all_reduce(input, mode, comm_world)

    def all_gather(self, input: Any, comm_world: str = "worker") -> Any:
        """What all workers give, in their order, as a list; without a place to meet ``input`` itself."""
        return self.role_maker.meeting.all_gather(input, comm_world)

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all workers have come here."""
        self.role_maker.meeting.barrier(comm_world)

    def all_to_all(self, parts: list[bytes], comm_world: str = "worker") -> list[bytes] | None:
        """What each of the others has for this one, in their order; None where this one is alone."""
        found: list[bytes] | None = self.role_maker.meeting.all_to_all(parts, comm_world)
        return found
