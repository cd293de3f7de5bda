"""What networks of the 2.x generation are made of, as functions: ``paddle.nn.functional``.

It must never hold code of its own. Guarantee: each name is the very function of the module that it stands
for.
"""

from __future__ import annotations

import sys
from typing import Any

from paddle import _absent
from paddle.nn.functional import activation, basics, conv, input, loss, norm, pooling

_MODULES = (activation, basics, conv, input, loss, norm, pooling)
_HOMES = {name: module for module in _MODULES for name in module.__all__}

_ABSENT = frozenset(
    """
    adaptive_avg_pool3d adaptive_max_pool3d affine_grid alpha_dropout assign avg_pool3d bilinear
    conv1d_transpose conv3d conv3d_transpose ctc_loss diag_embed dice_loss dropout3d gather_tree glu
    grid_sample gumbel_softmax local_response_norm max_pool3d npair_loss pixel_shuffle sigmoid_focal_loss
    temporal_shift unfold
    """.split()  # noqa: SIM905  read in columns
)
"""Names of 2.x that are not built."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        if name in _ABSENT:
            raise _absent.AbsentName(f"paddle.nn.functional.{name} is not in this release: it is not built.")
        here = sys.modules[__name__]
        raise AttributeError(f"paddle.nn.functional.{name} does not exist", name=name, obj=here)
    value = globals()[name] = getattr(_HOMES[name], name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
