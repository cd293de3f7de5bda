"""Layers on trial: ``paddle.incubate.layers``, those for click-through rates; what is not built says so.

It must never hold a layer itself. Guarantee: each name is the very function of fluid.contrib.layers.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._absent import AbsentName
from paddle.fluid.contrib.layers.nn import shuffle_batch
from paddle.fluid.contrib.layers.trees import tdm_child, tdm_sampler

__all__ = ["shuffle_batch", "tdm_child", "tdm_sampler"]

_ABSENT = """
    batch_fc bilateral_slice correlation fused_bn_add_act fused_embedding_seq_pool fused_seqpool_cvm
    multiclass_nms2 partial_concat partial_sum pow2_decay_with_linear_warmup rank_attention
    search_pyramid_hash
    """.split()  # noqa: SIM905  read in columns


def __getattr__(name: str) -> NoReturn:
    if name in _ABSENT:
        raise AbsentName(f"paddle.incubate.layers.{name} is not in this release: it is not built.")
    raise AttributeError(f"paddle.incubate.layers.{name} does not exist", name=name)
