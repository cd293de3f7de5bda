"""A dispatch as a launch makes it: each node by a channel of a Fabric connection, which is opened for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from benchmarks.dispatch.field import PLACE, Field
from benchmarks.worker import Work
from paddle._launch import workspace
from paddle._launch.digests import DigestCache
from paddle._launch.dispatch import Dispatch
from paddle._launch.machines.conversation import begin
from paddle._launch.machines.transport import Transport
from paddle._launch.settings import Host


def prepare(settings: Mapping[str, object]) -> Work:
    field = Field(settings, _deploy)
    os.environ["HOME"] = str(field.lab.home.folder)  # where the configuration of ssh is
    return field.work()


def _deploy(field: Field, last: Path | None, place: Path) -> None:
    transport = Transport("known")
    dispatch = Dispatch(
        workspace.listing(field.package),
        root=PLACE,
        nodes=len(field.lab.names),
        digests=DigestCache(field.cache),
        limit=1 << 32,
    )

    def serve(node: int, name: str) -> None:
        with closing(transport.line(Host(name, "root", 22)).open()) as line:
            receiver = begin(line, (sys.executable,), "agent.receiver")
            dispatch.deliver(receiver, node, place, replaces=place == last)

    field.each(serve)
