"""What networks of the 2.x generation are made of: ``paddle.nn``.

It must never hold code of its own. Guarantee: each name is the very class of the module that it stands for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_HOMES = {
    "layer.activation": """
        CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Maxout
        Mish PReLU ReLU ReLU6 SELU Sigmoid Silu Softmax Softmax2D Softplus Softshrink Softsign Swish Tanh
        Tanhshrink ThresholdedReLU
        """,
    "layer.basics": """
        Bilinear CosineSimilarity Dropout Dropout2D Embedding Flatten Identity Linear Pad1D Pad2D Pad3D
        Unflatten Upsample UpsamplingBilinear2D UpsamplingNearest2D ZeroPad2D
        """,
    "layer.cells": "GRUCell LSTMCell RNNCellBase SimpleRNNCell",
    "layer.container": "LayerDict LayerList ParameterList Sequential",
    "layer.conv": "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose",
    "decode": "BeamSearchDecoder dynamic_decode",
    "layer.decoder": "Transformer TransformerDecoder TransformerDecoderLayer",
    "layer.layers": "Layer",
    "layer.loss": """
        BCELoss BCEWithLogitsLoss CTCLoss CrossEntropyLoss HSigmoidLoss KLDivLoss L1Loss MSELoss
        MarginRankingLoss NLLLoss RNNTLoss SmoothL1Loss
        """,
    "layer.norm": """
        BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D GroupNorm InstanceNorm1D InstanceNorm2D InstanceNorm3D
        LayerNorm SpectralNorm SyncBatchNorm
        """,
    "layer.pooling": """
        AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool2D
        AdaptiveMaxPool3D AvgPool1D AvgPool2D AvgPool3D MaxPool1D MaxPool2D MaxPool3D
        """,
    "layer.rnn": "GRU LSTM RNN BiRNN SimpleRNN",
    "layer.shuffles": "ChannelShuffle PixelShuffle PixelUnshuffle",
    "layer.similarity": """
        CosineEmbeddingLoss GaussianNLLLoss HingeEmbeddingLoss MultiLabelSoftMarginLoss MultiMarginLoss
        PairwiseDistance PoissonNLLLoss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss
        """,
    "layer.transformer": "MultiHeadAttention TransformerEncoder TransformerEncoderLayer",
    "layer.windows": """
        AlphaDropout Dropout3D Fold LocalResponseNorm MaxUnPool1D MaxUnPool2D MaxUnPool3D RReLU
        Unfold
        """,
    "clip": "ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue",
}
_MODULES = frozenset({"clip", "decode", "functional", "initializer", "layer", "utils"})
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [*sorted(_MODULES), *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name == "loss":  # what 2.0 had at this place, too
        return import_module("paddle.nn.layer.loss")
    if name in _MODULES:
        return import_module(f"paddle.nn.{name}")
    if name in _WHERE:
        value = globals()[name] = getattr(import_module(f"paddle.nn.{_WHERE[name]}"), name)
        return value
    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
