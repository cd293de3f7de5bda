"""Recovery: a shard as its process begins it, new or from its newest snapshot.

It must never know a connection. Guarantee: a folder that holds snapshots of which none can be used is an
error that names them, and no new beginning.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from paddle._pserver.errors import NoValidCheckpoint
from paddle._pserver.options import ShardOptions
from paddle._pserver.shard.shard import Shard
from paddle._pserver.shard.state import State


class Kept(Protocol):
    """A shard's snapshots."""

    def save(self, state: State) -> None:
        """Make one that lasts. Raises OSError."""
        ...

    def state_of(self, version: int) -> State:
        """One that was made. Raises OSError and ValueError."""
        ...

    @property
    def release(self) -> Callable[[], None]:
        """Leaves them to another shard."""
        ...


_log = logging.getLogger("paddle.pserver")


def begin(options: ShardOptions, name: str) -> tuple[Shard, Kept | None]:
    """The shard, and its snapshots, where it keeps any.

    Raises NoValidCheckpoint, SnapshotsInUse, and OSError where the folder cannot be used.
    """
    shard, kept = Shard(options), options.snapshots
    if kept is None:
        return shard, None
    # Loaded here: a shard that keeps no snapshots needs no library for them.
    from paddle._pserver.snapshots.snapshot import Snapshots
    from paddle._pserver.snapshots.storage import Folder

    folder = Folder(Path(kept.folder))
    snapshots = Snapshots(folder, kept.keep, folder.close)
    loaded = snapshots.load()
    for damaged in loaded.damaged:
        _log.warning("%s: passes over snapshot %s in %s", name, damaged, kept.folder)
    if loaded.state is None:
        _log.info("%s: keeps snapshots in %s", name, kept.folder)
        return shard, snapshots
    try:
        shard.restore(loaded.state, kept.folder, loaded.older, now=time.monotonic())
    except ValueError as error:
        raise NoValidCheckpoint(
            f"the snapshot in {kept.folder} is whole and does not fit this release: {error}"
        ) from error
    _log.info("%s: goes on from version %d in %s", name, loaded.state.facts.version, kept.folder)
    return shard, snapshots
