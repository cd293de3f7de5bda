"""What a launch sends to its nodes, the package and the runtime: hashed and read once for all of them.

It must never know how a node is reached; a ``Wire`` (dispatch.py) is all that it sees of one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from paddle._launch.backends import Post
from paddle._launch.digests import DigestCache
from paddle._launch.dispatch import KEPT, Dispatch, Wire
from paddle._launch.jobs import home
from paddle._launch.news import Sent
from paddle._launch.plan import LaunchPlan
from paddle._launch.remote import Remote

_DIGESTS = "~/.cache/paddle/digests"


class Cargo:
    """See the module's text."""

    def __init__(self, launch: LaunchPlan, remote: Remote, post: Post) -> None:
        self._post = post
        digests = DigestCache(home.below(_DIGESTS))
        nodes = len(launch.nodes)
        self._runtime_place = remote.runtime
        dispatch = partial(Dispatch, root=remote.root, nodes=nodes, digests=digests, limit=KEPT)
        trainers = [role.node for role in launch.roles("trainer")]
        self._package = dispatch(launch.package or (), shard_data=launch.shard_data, trainers=trainers)
        self._runtime = dispatch(remote.contents)

    def bring_workspace(self, wire: Wire, node: int, place: Path, is_stopped: Callable[[], bool]) -> None:
        """Send the package by a receiver that reads at ``wire``."""

        def tell(sent: int, total: int) -> None:
            self._post(Sent(node, sent, total))

        self._package.deliver(wire, node, place, tell=tell, is_stopped=is_stopped)

    def bring_runtime(self, wire: Wire, node: int, is_stopped: Callable[[], bool]) -> None:
        """Send the runtime likewise."""
        self._runtime.deliver(wire, node, self._runtime_place, is_stopped=is_stopped)
