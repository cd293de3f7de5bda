"""Descriptors: how many files and connections a process may have open.

It must never know which. Guarantee: afterwards as many as the system lets it have, so that idle connections
keep no trainer out.
"""

from __future__ import annotations

import resource


def allow_many() -> None:
    """Raise the process's own limit to what it may be."""
    own, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if own != most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
