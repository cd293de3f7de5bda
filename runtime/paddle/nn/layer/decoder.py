"""What writes a sequence by attention to another: ``paddle.nn.TransformerDecoder`` and ``Transformer``.

They must never know a task. Guarantee: with caches, one position after another gives what all at once give.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.layer.basics import Dropout, Linear
from paddle.nn.layer.container import LayerList
from paddle.nn.layer.layers import Layer
from paddle.nn.layer.norm import LayerNorm
from paddle.nn.layer.transformer import (
    MultiHeadAttention,
    TransformerEncoder,
    TransformerEncoderLayer,
    attr_of,
)
from paddle.tensor.creation import assign

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer"]


class TransformerDecoderLayer(Layer):
    """Attention to what is written, attention to ``memory``, and two linear layers, each added to its input
    and normalized."""

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
            {"weight_attr": attr_of(weight_attr, at), "bias_attr": attr_of(bias_attr, at)} for at in range(3)
        ]
        within = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, within, **attrs[0])
        self.cross_attn = MultiHeadAttention(d_model, nhead, within, **attrs[1])
        self.linear1 = Linear(d_model, dim_feedforward, **attrs[2])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **attrs[2])
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model) for _ in range(3))
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))
        self._activation = activation

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None
    ) -> Any:
        """Append the layer; with a ``cache`` (of ``gen_cache``) it gives the next one, too."""
        own, fixed = (None, None) if cache is None else cache

        def attends(x: Any) -> Any:
            nonlocal own
            found = self.self_attn(x, x, x, tgt_mask, own)
            if own is not None:
                found, own = found[0], found[-1]
            return found

        def remembers(x: Any) -> Any:
            found = self.cross_attn(x, memory, memory, memory_mask, fixed)
            return found[0] if fixed is not None else found

        found = self._added(tgt, attends, self.norm1, self.dropout1)
        found = self._added(found, remembers, self.norm2, self.dropout2)
        found = self._added(found, self._feeds, self.norm3, self.dropout3)
        return found if cache is None else (found, (own, fixed))

    def _feeds(self, x: Any) -> Any:
        inner = getattr(functional, self._activation)(self.linear1(x))
        return self.linear2(self.dropout(inner))

    def _added(self, x: Any, does: Any, norm: Any, dropout: Any) -> Any:
        found = x + dropout(does(norm(x) if self.normalize_before else x))
        return found if self.normalize_before else norm(found)

    def gen_cache(self, memory: Any) -> Any:
        """What a first position begins with: nothing written, and the projections of ``memory``."""
        return (
            self.self_attn.gen_cache(memory, type=MultiHeadAttention.Cache),
            self.cross_attn.gen_cache(memory, memory, type=MultiHeadAttention.StaticCache),
        )

    def another(self) -> TransformerDecoderLayer:
        """One made alike, with parameters of its own."""
        return type(self)(*self._made, *self._options)


class TransformerDecoder(Layer):
    """``num_layers`` layers like ``decoder_layer``, which is the first."""

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        others = [decoder_layer.another() for _ in range(num_layers - 1)]
        self.layers = LayerList([decoder_layer, *others])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None
    ) -> Any:
        """Append all layers; with a ``cache`` they give the next one, too."""
        behind = []
        for at, layer in enumerate(self.layers):
            tgt = layer(tgt, memory, tgt_mask, memory_mask, None if cache is None else cache[at])
            if cache is not None:
                tgt, after = tgt
                behind.append(after)
        found = tgt if self.norm is None else self.norm(tgt)
        return found if cache is None else (found, behind)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """One cache for each layer; ``do_zip``: those of both kinds, each for all layers."""
        found = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*found, strict=True)) if do_zip else found


class Transformer(Layer):
    """An encoder of ``src``, and a decoder that writes ``tgt`` by attention to what it gives."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
    ) -> None:
        super().__init__()
        told = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout)
        first, second = ([_ends(attr), attr] for attr in (weight_attr, bias_attr))
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*told, normalize_before, first[0], second[0]),
            num_encoder_layers,
            LayerNorm(d_model),
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*told, normalize_before, _three(first[1]), _three(second[1])),
            num_decoder_layers,
            LayerNorm(d_model),
        )
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None
    ) -> Any:
        """Append both; a bool mask keeps what is true, a whole one what is 1, others are added to scores."""
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """What hides from each of ``length`` positions those after it: (length, length)."""
        hidden = float("-inf")
        return assign([[hidden if key > row else 0.0 for key in range(length)] for row in range(length)])


def _ends(attr: Any) -> Any:
    """Of attributes for attention to oneself, to memory, and the linear layers: those of an encoder."""
    return [attr[0], attr[-1]] if isinstance(attr, (list, tuple)) else attr


def _three(attr: Any) -> Any:
    if not isinstance(attr, (list, tuple)):
        return attr
    if not 1 <= len(attr) <= 3:
        raise ValueError(f"attributes of a Transformer are one, two or three, not {len(attr)}")
    return [attr[0], attr[0] if len(attr) < 3 else attr[1], attr[-1]]
