"""The command ``paddle snapshot``: a snapshot of a job that runs, on demand.

It must never know a frame. Guarantee: as of every command, see ``__main__``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from paddle._launch.arguments import parse_arguments
from paddle._launch.environ import files
from paddle._launch.flags import check_ports, defaults_of, flags_of
from paddle._launch.manual import page
from paddle._streams import show
from paddle._visible import visible

_USAGE = """
Usage: paddle snapshot [--name=value ...]

Makes all parameter servers of a running job write a snapshot, in synchronous modes of the same step, and
prints its version (the number of steps) and its folders once it is on disk. Training continues meanwhile.
Name the servers with the flags of a trainer. Exit status: 1 failure, 2 wrong usage.
"""


def snapshot(arguments: Sequence[str]) -> int:
    """Run ``paddle snapshot``; gives its exit status."""
    given = parse_arguments(arguments, "snapshot", command="paddle snapshot")
    if given.help:
        show(page(_USAGE, [("Flags:", flags_of("snapshot"))]).rstrip())
        return 0
    values: dict[str, Any] = {**defaults_of("snapshot"), **given.values}
    check_ports(values["port"], values["ports_num"], values["ports_num_for_sparse"])
    from paddle._pserver.errors import PserverError
    from paddle._pserver.trainer import consistent_cut
    from paddle._pserver.trainer.places import on_hosts

    ports = values["port"], values["ports_num"], values["ports_num_for_sparse"]
    own = files({name: values[name] for name in ("token_file", "tls_ca")}, os.environ)
    try:
        kept = consistent_cut.take(
            on_hosts(values["pservers"], *ports), values["connect_timeout"], _tell, **own
        )
    except PserverError as error:
        _tell(str(error))
        return error.exit_status
    for each in kept:
        show(visible(f"{each.what}: version {each.version} is in {each.folder}"))
    versions = sorted({each.version for each in kept})
    shards = f"{len(kept)} shard{'s' * (len(kept) != 1)}"
    if len(versions) == 1:
        show(f"version {versions[0]} of {shards} lasts: the job can go on from step {versions[0]}")
    else:
        show(f"versions {versions[0]} to {versions[-1]} of {shards} last: trainers are not in step")
    return 0


def _tell(text: str) -> None:
    print(visible(f"paddle snapshot: {text}"), file=sys.stderr, flush=True)
