"""``paddle.trainer`` as a package: v2's trainer, and names of v1's, which say what there is instead.

It must never know v1. Guarantee: what ``paddle.trainer`` gives as an attribute of ``paddle`` it gives as a
package, too.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import AbsentName
from paddle.v2 import trainer
from paddle.v2.trainer import SGD

__all__ = ["SGD"]

_OF_V1 = {
    "config_parser": "a network is a Python program (paddle.layer), and what it is configured as is "
    "paddle.topology.Topology(cost).proto()",
    "recurrent_units": "they are in paddle.networks (lstmemory_group, gru_group)",
}


def __getattr__(name: str) -> Any:
    if name in _OF_V1:
        raise AbsentName(f"paddle.trainer.{name} is not in this release: {_OF_V1[name]}.")
    return getattr(trainer, name)
