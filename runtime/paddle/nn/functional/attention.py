"""Attention: ``scaled_dot_product_attention``.

It must never compute: the function appends operators to the default program. Guarantee: what ``is_causal``
hides has no share.
"""

from __future__ import annotations

from typing import Any

from paddle.nn.functional.activation import softmax
from paddle.nn.functional.basics import dropout
from paddle.tensor import math
from paddle.tensor.creation import ones, triu
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import transpose

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """softmax(query @ key / sqrt(size) + mask) @ value, of (n, length, heads, size)."""
    q, k, v = (transpose(each, [0, 2, 1, 3]) for each in (query, key, value))
    scores = matmul(math.scale(q, query.shape[-1] ** -0.5), k, transpose_y=True)
    if attn_mask is not None:
        scores = math.add(scores, attn_mask)
    if is_causal:
        scores = math.add(scores, _future(query.shape[1], key.shape[1]))
    shares = softmax(scores)
    if dropout_p:
        shares = dropout(shares, dropout_p, training=training)
    return transpose(matmul(shares, v), [0, 2, 1, 3], name)


def _future(queries: int, keys: int) -> Any:
    if min(queries, keys) < 0:
        raise ValueError("is_causal needs declared lengths of query and key: give attn_mask")
    return math.scale(triu(ones([queries, keys]), 1), -1e30)
