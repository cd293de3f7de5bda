"""Layers of networks that fluid had under ``contrib``. They must never compute themselves."""

from __future__ import annotations

from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.sparse_embedding import sparse_embedding
from paddle.fluid._listed import lacking
from paddle.fluid.contrib.layers.parts import fused_embedding_seq_pool, partial_concat, partial_sum
from paddle.fluid.contrib.layers.trees import tdm_child, tdm_sampler
from paddle.fluid.layers.detection.keeping import multiclass_nms2

__all__ = [
    "fused_embedding_seq_pool",
    "multiclass_nms2",
    "partial_concat",
    "partial_sum",
    "shuffle_batch",
    "sparse_embedding",
    "tdm_child",
    "tdm_sampler",
]


def shuffle_batch(x: Variable, seed: int | Variable | None = None) -> Variable:
    """The rows of ``x`` in an order that each run draws anew; all axes but the last are of rows.

    Gradients go back to the rows that values came from. ``seed`` changes nothing: what is drawn follows from
    the program's ``random_seed`` and the step.
    """
    helper = LayerHelper("shuffle_batch")
    out = helper.create_variable_for_type_inference(x.dtype)
    order = helper.create_variable_for_type_inference("int64", stop_gradient=True)
    attrs = {"startup_seed": seed} if isinstance(seed, int) else {}
    helper.append_op("shuffle_batch", {"X": x}, {"Out": out, "ShuffleIdx": order}, attrs)
    return out


__getattr__ = lacking("paddle.fluid.contrib.layers")
