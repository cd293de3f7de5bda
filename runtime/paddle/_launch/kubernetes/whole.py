"""Everything that is made for a launch: its objects, with a token and papers of its own and its package.

It must never know a cluster. Guarantee: no two launches have one token, and the key that signed the papers is
gone when this has ended.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from paddle._launch.kubernetes import manifests, names, package
from paddle._launch.kubernetes.containers import Fields
from paddle._launch.plan import LaunchPlan


def objects(launch: LaunchPlan, version: str = "") -> list[Fields]:
    """Make them for a cluster of ``version``, unless the user has said another."""
    assert launch.pods is not None
    parts = package.packed(launch.package or ())
    return list(manifests.objects(launch, _secrets(launch), parts, launch.pods.version or version))


def written(made: list[Fields]) -> str:
    """Write objects for kubectl."""
    return manifests.written(made)


def text(launch: LaunchPlan, version: str = "") -> str:
    """Write them for people and kubectl."""
    return manifests.text(objects(launch, version), launch)


def _secrets(launch: LaunchPlan) -> dict[str, str]:
    made = {"token": secrets.token_hex(32)}
    if launch.encrypts:
        from paddle._launch.authority import Authority  # takes a moment to load

        servers = launch.roles("pserver")
        reached = [names.address(launch.name, "pserver", role.rank) for role in servers]
        papers = Authority(launch.name, datetime.now(UTC)).issue(reached)
        made |= {"tls_ca": papers.authority, "tls_cert": papers.certificate, "tls_key": papers.key}
    return made
