"""Attention: ``paddle.nn.MultiHeadAttention`` and ``TransformerEncoder``.

They must never know a task. Guarantee: heads are the last axis of the projections in order; a mask is added
to scores before softmax, a bool one keeps what is true.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from paddle.nn import functional
from paddle.nn.layer.basics import Dropout, Linear
from paddle.nn.layer.container import LayerList
from paddle.nn.layer.layers import Layer
from paddle.nn.layer.norm import LayerNorm
from paddle.tensor.creation import full
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import cast, concat, reshape, transpose
from paddle.tensor.math import scale
from paddle.tensor.placing import sizes_of_each

__all__ = ["MultiHeadAttention", "TransformerEncoder", "TransformerEncoderLayer"]


class Cache(NamedTuple):
    """The projections of what was attended to before, (n, heads, length, size); the next are put behind."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """The projections of what is attended to at every position."""

    k: Any
    v: Any


class MultiHeadAttention(Layer):
    """``num_heads`` times softmax(q @ k.T / sqrt(size of a head) + mask) @ v, of projections of (n, length,
    size).
    """

    Cache = Cache
    StaticCache = StaticCache

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
        """Append the attention; ``key`` and ``value`` are ``query`` if None. With a ``cache`` it gives the
        next one, too, at the end."""
        key = query if key is None else key
        value = key if value is None else value
        queries = self._heads(self.q_proj(query))
        if isinstance(cache, StaticCache):
            keys, values = cache
        else:
            keys, values = self.compute_kv(key, value)
        if isinstance(cache, Cache):
            keys, values = concat([cache.k, keys], 2), concat([cache.v, values], 2)
            cache = Cache(keys, values)
        scores = matmul(scale(queries, self.head_dim**-0.5), keys, transpose_y=True)
        if attn_mask is not None:
            scores = scores + _added(attn_mask)
        weights = functional.softmax(scores)
        if self.dropout:
            weights = functional.dropout(weights, self.dropout, training=self.training)
        found = transpose(matmul(weights, values), [0, 2, 1, 3])
        found = self.out_proj(reshape(found, [0, 0, self.num_heads * self.head_dim]))
        given = [found, *([weights] if self.need_weights else []), *([] if cache is None else [cache])]
        return given[0] if len(given) == 1 else tuple(given)

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """The projections of keys and values, (n, heads, length, size)."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """A ``StaticCache`` of the projections; a ``Cache`` of ``key`` and ``value`` as they are, or, without
        ``value``, of nothing, for as many samples as ``key`` has."""
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return Cache(key, value)
        empty = full([sizes_of_each(key)[0], self.num_heads, 0, self.head_dim], 0.0)
        return Cache(empty, empty)

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
        attrs = [
            {"weight_attr": attr_of(weight_attr, at), "bias_attr": attr_of(bias_attr, at)} for at in range(2)
        ]
        within = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, within, **attrs[0])
        self.linear1 = Linear(d_model, dim_feedforward, **attrs[1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **attrs[1])
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self._activation = activation

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """Append the layer; with a ``cache`` (of ``gen_cache``) it gives the next one, too."""
        told = self.norm1(src) if self.normalize_before else src
        attended = self.self_attn(told, told, told, src_mask, cache)
        if cache is not None:
            attended, cache = attended
        found = src + self.dropout1(attended)
        if not self.normalize_before:
            found = self.norm1(found)
        told = self.norm2(found) if self.normalize_before else found
        inner = getattr(functional, self._activation)(self.linear1(told))
        found = found + self.dropout2(self.linear2(self.dropout(inner)))
        found = found if self.normalize_before else self.norm2(found)
        return found if cache is None else (found, cache)

    def gen_cache(self, src: Any) -> Cache:
        """What a first position begins with: nothing before it."""
        begun: Cache = self.self_attn.gen_cache(src, type=Cache)
        return begun

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
        """Append all layers; with a ``cache``, one for each, they give the next one, too."""
        behind = []
        for at, layer in enumerate(self.layers):
            src = layer(src, src_mask, None if cache is None else cache[at])
            if cache is not None:
                src, after = src
                behind.append(after)
        found = src if self.norm is None else self.norm(src)
        return found if cache is None else (found, behind)

    def gen_cache(self, src: Any) -> list[Cache]:
        """One cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


def attr_of(attr: Any, part: int) -> Any:
    """The attribute of one part of a layer, of one for all or of a list."""
    if isinstance(attr, (list, tuple)):
        return attr[min(part, len(attr) - 1)]
    return attr


def _added(mask: Any) -> Any:
    """What is added to scores: a mask of truths or whole numbers as 0 where it holds and -1e9 where not."""
    from paddle._program.description.dtypes import is_float

    found = cast(mask, "float32")
    return found if is_float(mask.dtype) else scale(found, 1e9, -1e9)


def __getattr__(name: str) -> Any:
    if name in ("Transformer", "TransformerDecoder", "TransformerDecoderLayer"):  # the original's place
        return getattr(import_module("paddle.nn.layer.decoder"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
