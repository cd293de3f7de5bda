"""The configuration of a network of v2 in a file of its own, for the original's C interface or to look at.

It must never know parameters or an optimizer. Guarantee: the file is the ModelConfig of the layers that lead
to those given, as text or, ``binary``, as the bytes that ModelConfig's parser reads.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from paddle.v2.config_base import Layer
from paddle.v2.layer import parse_network

__all__ = ["dump_v2_config"]


def dump_v2_config(
    topology: Layer | Sequence[Layer], save_path: str | os.PathLike[str], binary: bool = False
) -> None:
    """Write the network that leads to ``topology``, its output layers, to ``save_path``."""
    config = parse_network(topology)
    Path(save_path).write_bytes(config.SerializeToString() if binary else str(config).encode())
