"""A plan of one node, the one that this machine is.

Pure. Guarantee: nothing is sent, prepared or collected by it, and its ports are those that its roles name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.settings import Host

_TRUST = ("PADDLE_TOKEN_FILE", "PADDLE_TLS_CA", "PADDLE_TLS_CERT", "PADDLE_TLS_KEY")


def part(
    job: str,
    address: str,
    roles: tuple[RolePlan, ...],
    *,
    workspace: Path,
    folder: Path,
    ports: tuple[int, int, int] = (0, 0, 0),
    has_token: bool = False,
) -> LaunchPlan:
    """Plan ``roles`` for this machine, which is reached at ``address``. ``workspace``: the agent's own;
    ``folder``: where programs run. ``has_token``: it makes one for its roles alone."""
    return LaunchPlan(
        name=job,
        nodes=(NodePlan(node=0, host=Host("local"), address=address, workspace=workspace, roles=roles),),
        prepare=(),
        package=None,
        home=folder,
        snapshots=None,
        ports=ports,
        origins=("default",) * 3,
        ready_timeout_s=0.0,
        has_token=has_token,
    )


def trust(environ: Mapping[str, str]) -> dict[str, str]:
    """By which files the caller's processes believe each other, to be handed on to roles."""
    return {name: text for name in _TRUST if (text := environ.get(name))}
