"""Which pod this is, by what Kubernetes says to its container, and what its processes show and trust.

It must never know a cluster; environment and host name are arguments. Guarantee: a pod is one of its job's,
or it is refused by the name of what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from paddle._launch.errors import ClusterError, UsageError

_INDEX = "JOB_COMPLETION_INDEX"
_ADDRESS = "POD_IP"
_SECRETS = ("token", "tls_ca", "tls_cert", "tls_key")


def rank(given: int, environ: Mapping[str, str], host: str, count: int) -> int:
    """The number of this pod among the ``count`` of its kind: the one ``given``, if that is not negative, or
    what the engine says."""
    if given >= 0:
        found, where = given, f"--rank={given}"
    elif text := environ.get(_INDEX, ""):
        where = f"{_INDEX}={text}"
        found = int(text) if text.isascii() and text.isdecimal() else -1
    else:
        where = f"the name of this host, {host},"
        number = re.search(r"-(\d+)$", host.partition(".")[0])
        found = int(number[1]) if number else -1
    if not 0 <= found < count:
        raise ClusterError(
            f"{where} gives no number from 0 to {count - 1}, which is what pods of this kind have. Let a "
            "StatefulSet or an Indexed Job number them, or say it: --rank=0."
        )
    return found


def address(environ: Mapping[str, str]) -> str:
    """Where a parameter server listens: this pod's own address."""
    if not (text := environ.get(_ADDRESS, "").strip()):
        raise ClusterError(
            f"{_ADDRESS} is not set. A parameter server listens at the address of its pod: set it from the "
            "field status.podIP of the pod."
        )
    return text


def secrets(folder: str) -> dict[str, str]:
    """Read what processes show and trust; none without a folder."""
    found: dict[str, str] = {}
    for name in _SECRETS if folder else ():
        try:
            found[name] = Path(folder, name).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--secrets={folder}: {name} cannot be read: {error}.") from error
    return found
