"""Layers that fluid had under ``contrib``: those for click-through rates; of what is not built it says so.

It must never hold a layer itself. Guarantee: each name is the very object of its module.
"""

from paddle.fluid._listed import lacking
from paddle.fluid.contrib.layers import metric_op as metric_op
from paddle.fluid.contrib.layers import nn as nn
from paddle.fluid.contrib.layers import rnn_impl as rnn_impl
from paddle.fluid.contrib.layers.metric_op import ctr_metric_bundle
from paddle.fluid.contrib.layers.nn import multiclass_nms2, shuffle_batch, sparse_embedding
from paddle.fluid.contrib.layers.parts import fused_embedding_seq_pool, partial_concat, partial_sum
from paddle.fluid.contrib.layers.stacks import basic_gru, basic_lstm
from paddle.fluid.contrib.layers.trees import tdm_child, tdm_sampler
from paddle.fluid.contrib.layers.units import BasicGRUUnit, BasicLSTMUnit
from paddle.fluid.layers.arrays.places import index_sample

__all__ = [
    "BasicGRUUnit",
    "BasicLSTMUnit",
    "basic_gru",
    "basic_lstm",
    "ctr_metric_bundle",
    "fused_embedding_seq_pool",
    "index_sample",
    "multiclass_nms2",
    "partial_concat",
    "partial_sum",
    "shuffle_batch",
    "sparse_embedding",
    "tdm_child",
    "tdm_sampler",
]

__getattr__ = lacking(__name__)
