"""Attention: ``paddle.nn.MultiHeadAttention`` and ``TransformerEncoder``.

They must never know a task. Guarantee: heads are the last axis of the projections in order; a mask is added
to scores before softmax, a bool one keeps what is true.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.layer.basics import Dropout, Linear
from paddle.nn.layer.container import LayerList
from paddle.nn.layer.layers import Layer
from paddle.nn.layer.norm import LayerNorm
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import cast, reshape, transpose
from paddle.tensor.math import scale

__all__ = ["MultiHeadAttention", "TransformerEncoder", "TransformerEncoderLayer"]


class MultiHeadAttention(Layer):
    """``num_heads`` times softmax(q @ k.T / sqrt(size of a head) + mask) @ v, of projections of (n, length,
    size).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(
                f"embed_dim must be divisible by num_heads, and {embed_dim} is not by {num_heads}"
            )
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.need_weights = need_weights
        self.dropout = dropout
        attrs = {"weight_attr": weight_attr, "bias_attr": bias_attr}
        self.q_proj = Linear(embed_dim, embed_dim, **attrs)
        self.k_proj = Linear(kdim or embed_dim, embed_dim, **attrs)
        self.v_proj = Linear(vdim or embed_dim, embed_dim, **attrs)
        self.out_proj = Linear(embed_dim, embed_dim, **attrs)

    def forward(
        self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None
    ) -> Any:
        """Append the attention; ``key`` and ``value`` are ``query`` if None. ``cache`` is not in this
        release.
        """
        if cache is not None:
            from paddle._absent import NotInThisRelease

            raise NotInThisRelease("a cache of attention is not in this release")
        key = query if key is None else key
        value = key if value is None else value
        queries, keys, values = (
            self._heads(project(each))
            for project, each in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = matmul(scale(queries, self.head_dim**-0.5), keys, transpose_y=True)
        if attn_mask is not None:
            scores = scores + _added(attn_mask)
        weights = functional.softmax(scores)
        if self.dropout:
            weights = functional.dropout(weights, self.dropout, training=self.training)
        found = transpose(matmul(weights, values), [0, 2, 1, 3])
        found = self.out_proj(reshape(found, [0, 0, self.num_heads * self.head_dim]))
        return (found, weights) if self.need_weights else found

    def _heads(self, projected: Any) -> Any:
        apart = reshape(projected, [0, 0, self.num_heads, self.head_dim])
        return transpose(apart, [0, 2, 1, 3])


class TransformerEncoderLayer(Layer):
    """Attention and two linear layers, each added to its input and normalized."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        self._made = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout)
        self._options = (normalize_before, weight_attr, bias_attr)
        self.normalize_before = normalize_before
        attrs = {"weight_attr": weight_attr, "bias_attr": bias_attr}
        within = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, within, **attrs)
        self.linear1 = Linear(d_model, dim_feedforward, **attrs)
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **attrs)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self._activation = activation

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """Append the layer."""
        told = self.norm1(src) if self.normalize_before else src
        found = src + self.dropout1(self.self_attn(told, told, told, src_mask, cache))
        if not self.normalize_before:
            found = self.norm1(found)
        told = self.norm2(found) if self.normalize_before else found
        inner = getattr(functional, self._activation)(self.linear1(told))
        found = found + self.dropout2(self.linear2(self.dropout(inner)))
        return found if self.normalize_before else self.norm2(found)

    def another(self) -> TransformerEncoderLayer:
        """One made alike, with parameters of its own."""
        return type(self)(*self._made, *self._options)


class TransformerEncoder(Layer):
    """``num_layers`` layers like ``encoder_layer``, which is the first."""

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        others = [encoder_layer.another() for _ in range(num_layers - 1)]
        self.layers = LayerList([encoder_layer, *others])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """Append all layers."""
        for layer in self.layers:
            src = layer(src, src_mask, cache)
        return src if self.norm is None else self.norm(src)


def _added(mask: Any) -> Any:
    """What is added to scores: a bool mask as 0 where it is true and -1e9 where not."""
    from paddle._program.description.dtypes import VarType

    if mask.dtype != VarType.BOOL:
        return cast(mask, "float32")
    return scale(cast(mask, "float32"), 1e9, -1e9)
