"""Files of trained weights, by their address: ``paddle.utils.download``.

It must never know what is in one. Guarantee: a file that is there is not fetched again.
"""

from __future__ import annotations

from pathlib import Path

from paddle.dataset.common import download

__all__ = ["get_weights_path_from_url"]

WEIGHTS_HOME = str(Path("~/.cache/paddle/hapi/weights").expanduser())


def is_url(path: str) -> bool:
    """Whether it is an address, and not the path of a file."""
    return path.startswith(("http://", "https://"))


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The path of the file of ``url`` in WEIGHTS_HOME, downloaded unless it is there.

    Raises RuntimeError with what to do by hand where there is no network.
    """
    return download(url, WEIGHTS_HOME, md5sum)
