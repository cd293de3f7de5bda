"""What all of a group say to each other: ``paddle.distributed.all_reduce`` and its family, where one is all.

Workers of a job with parameter servers meet there (``fleet.util``, ``fleet.metrics``), not from process to
process. It must never send anything. Guarantee: of a group of one each function gives what that one has, at
once; of several it raises NotInThisRelease, which names it. Tensors are of any shape and dtype, objects any.
Source: names and arguments of paddle.distributed 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.distributed.parallel import get_rank, get_world_size

__all__ = [
    *("Group", "ParallelMode", "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "alltoall"),
    *("alltoall_single", "barrier", "broadcast", "broadcast_object_list", "destroy_process_group"),
    *("gather", "get_group", "new_group", "reduce", "reduce_scatter", "scatter", "scatter_object_list"),
    "wait",
]


class ReduceOp:
    """What is made of several values: their sum, largest, smallest, product or mean."""

    SUM, MAX, MIN, PROD, AVG = range(5)


class ParallelMode:
    """Numbers of ways to share work, of which there are data of their own for each worker here."""

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


class Group:
    """Some of a job's workers. ``rank``: this one's place among them, -1 if it is none of them."""

    def __init__(self, ranks: Sequence[int], id: int, name: str | None = None) -> None:
        self.ranks, self.id, self.name = [int(rank) for rank in ranks], id, name
        self.nranks = self.world_size = len(self.ranks)
        self.rank = self.get_group_rank(get_rank())

    def is_member(self) -> bool:
        """Whether this worker is one of several that talk: nobody talks alone."""
        return self.rank >= 0 and self.nranks > 1

    def get_group_rank(self, rank: int) -> int:
        """The place of a worker of the job, -1 if it is none of them."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def __repr__(self) -> str:
        ranks = ", ".join(map(str, self.ranks))
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {ranks}; name: {self.name}"


_ids = iter(range(10, 2**31))


def new_group(ranks: Sequence[int] | None = None, backend: str | None = None, timeout: Any = None) -> Group:
    """A group of these workers; of all if None."""
    return Group(range(get_world_size()) if ranks is None else sorted(ranks), next(_ids))


def get_group(id: int = 0) -> None:
    """None: there is no group but those that ``new_group`` gave."""


def destroy_process_group(group: Any = None) -> None:
    """Nothing is kept of a group."""


def _need_one(function: str, group: Any) -> None:
    count = get_world_size() if group is None else group.nranks
    if count > 1:
        raise NotInThisRelease(
            f"paddle.distributed.{function} among {count} workers is not in this release: in a job with "
            "parameter servers values meet by fleet.util.all_reduce, fleet.util.all_gather, "
            "fleet.util.barrier or paddle.distributed.fleet.metrics"
        )


def _write(tensor: Any, value: Any) -> None:
    if value is not tensor:
        from paddle.tensor.creation import assign  # not before it is used: a launcher loads no array

        assign(value, tensor)


def all_reduce(tensor: Any, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True) -> None:
    """What all have in ``tensor``, together, for each of them."""
    _need_one("all_reduce", group)


def reduce(
    tensor: Any, dst: int = 0, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> None:
    """What all have in ``tensor``, together, for ``dst``."""
    _need_one("reduce", group)


def broadcast(tensor: Any, src: int = 0, group: Any = None, sync_op: bool = True) -> None:
    """What ``src`` has in ``tensor``, for each of them."""
    _need_one("broadcast", group)


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Any = None) -> None:
    """What ``src`` has in ``object_list``, for each of them."""
    _need_one("broadcast_object_list", group)


def all_gather(tensor_list: list[Any], tensor: Any, group: Any = None, sync_op: bool = True) -> None:
    """What each has in ``tensor``, in their order, at the end of ``tensor_list``."""
    _need_one("all_gather", group)
    tensor_list.append(tensor)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """What each says, in their order, at the end of ``object_list``."""
    _need_one("all_gather_object", group)
    object_list.append(obj)


def gather(
    tensor: Any, gather_list: list[Any] | None = None, dst: int = 0, group: Any = None, sync_op: bool = True
) -> None:
    """What each has in ``tensor``, in their order, at the end of ``dst``'s ``gather_list``."""
    _need_one("gather", group)
    if gather_list is not None:
        gather_list.append(tensor)


def scatter(
    tensor: Any,
    tensor_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Any = None,
    sync_op: bool = True,
) -> None:
    """One of ``src``'s ``tensor_list`` for each, written to ``tensor``."""
    _need_one("scatter", group)
    if tensor_list:
        _write(tensor, tensor_list[0])


def scatter_object_list(
    out_object_list: list[Any], in_object_list: Sequence[Any] | None = None, src: int = 0, group: Any = None
) -> None:
    """One of ``src``'s ``in_object_list`` for each, which is then all that ``out_object_list`` holds."""
    _need_one("scatter_object_list", group)
    out_object_list[:] = list(in_object_list or [])[:1]


def alltoall(
    in_tensor_list: Sequence[Any], out_tensor_list: list[Any], group: Any = None, sync_op: bool = True
) -> None:
    """What each has for this one, in their order, at the end of ``out_tensor_list``."""
    _need_one("alltoall", group)
    out_tensor_list.extend(in_tensor_list)


def alltoall_single(
    in_tensor: Any,
    out_tensor: Any,
    in_split_sizes: Any = None,
    out_split_sizes: Any = None,
    group: Any = None,
    sync_op: bool = True,
) -> None:
    """The part that each has for this one, in their order, written to ``out_tensor``."""
    _need_one("alltoall_single", group)
    _write(out_tensor, in_tensor)


def reduce_scatter(
    tensor: Any, tensor_list: Sequence[Any], op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> None:
    """What all have for this one, together, written to ``tensor``."""
    _need_one("reduce_scatter", group)
    _write(tensor, tensor_list[0])


def barrier(group: Any = None) -> None:
    """Wait until all are here."""
    _need_one("barrier", group)


def wait(tensor: Any, group: Any = None, use_calc_stream: bool = True) -> None:
    """Wait until ``tensor`` is there, as each is when an executor gives it."""
