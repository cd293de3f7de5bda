"""Messages: what a trainer asks its master, what it is told, and the queue as a plain value.

It must never know a socket or a file. Guarantee: what decodes is of these types, its numbers in these
ranges.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class Place(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a chunk stands."""

    path: str
    offset: Count


class SetDataset(Struct, frozen=True, kw_only=True):
    """``POST /v1/dataset``."""

    globs: Annotated[tuple[str, ...], Meta(min_length=1)]


class DatasetSet(Struct, frozen=True, kw_only=True):
    """Its answer: what is served, which is what was asked for where ``is_first``."""

    is_first: bool
    globs: tuple[str, ...]
    tasks: int


class GetTask(Struct, frozen=True, kw_only=True):
    """``POST /v1/task``. ``request``: the client's own count, so that one sent twice is answered alike."""

    client: Name
    request: Count
    pass_id: Count


class TaskGiven(Struct, frozen=True, kw_only=True):
    """Its answer: the chunks to read, and the lease to finish them under within ``timeout_s``."""

    task: int
    lease: int
    timeout_s: float
    chunks: tuple[Place, ...]


class TaskFinished(Struct, frozen=True, kw_only=True):
    """``POST /v1/finished``."""

    task: int
    lease: int


class TaskFailed(Struct, frozen=True, kw_only=True):
    """``POST /v1/failed``."""

    task: int
    lease: int
    reason: Annotated[str, Meta(max_length=2000)]


class Counted(Struct, frozen=True, kw_only=True):
    """The answer to both: False where the lease was another's by then, or counted before."""

    counted: bool


class GiveBack(Struct, frozen=True, kw_only=True):
    """``POST /v1/release``: the client reads no more."""

    client: Name


class RequestSaveModel(Struct, frozen=True, kw_only=True):
    """``POST /v1/save_model``."""

    trainer: Name
    block_s: Seconds


class SaveModel(Struct, frozen=True, kw_only=True):
    """Its answer."""

    is_saver: bool


class Problem(Struct, frozen=True, kw_only=True):
    """An answer that is an error: the name of its class, and its text."""

    error: str
    text: str


class Spot(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A chunk of a data set: which of its files, and where in it."""

    file: Count
    offset: Count


class Dataset(Struct, frozen=True, kw_only=True):
    """Files, and tasks of some of their chunks each. A task's number is its place."""

    globs: tuple[str, ...]
    files: tuple[str, ...]
    tasks: tuple[tuple[Spot, ...], ...]


class Lease(Struct, frozen=True, kw_only=True):
    """A task that a client has, for ``left_s`` more."""

    task: int
    lease: int
    client: str
    request: int
    left_s: float


class Saver(Struct, frozen=True, kw_only=True):
    """The trainer that saves the model; nobody else may for ``left_s`` more."""

    trainer: str
    left_s: float


class State(Struct, frozen=True, kw_only=True):
    """All that a queue knows. Durations in place of times, so that it holds on another clock."""

    dataset: Dataset | None = None
    pass_id: Count = 0
    leases: Count = 0
    todo: tuple[int, ...] = ()
    pending: tuple[Lease, ...] = ()
    done: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    failures: tuple[int, ...] = ()
    saver: Saver | None = None
