"""Pieces of sequences, and the elements that count most in them.

They must never know how pieces are cut. Guarantee: what is cut out of a sequence is a sequence, whose
elements keep their order. Where pieces begin and end follows from data layers alone, not from what is
learned.
"""

from __future__ import annotations

from paddle.v2._draft import Draft, attribute_alone, dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2.activation import BaseActivation, Identity
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["kmax_seq_score", "seq_reshape", "seq_slice", "sub_nested_seq", "sub_seq"]

Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None


def seq_slice(input: Layer, starts: Layer | None, ends: Layer | None, name: str | None = None) -> Layer:
    """Of each sequence the elements from one of ``starts`` to one of ``ends``, both included.

    Where these have several columns, several pieces, up to a column that is -1; each is a sequence. Without
    ``starts`` pieces begin with the sequence, without ``ends`` they end with it.
    """
    name = name or default_name("seq_slice_layer")
    bounds = [each for each in (starts, ends) if each is not None]
    if not bounds or len({each.size for each in bounds}) > 1:
        raise WrongCall(f"layer {name!r} takes starts or ends, or both, of one size, not {bounds}")
    draft = Draft("seq_slice", name, size=input.size)
    draft.read(dense(name, input))
    for each in bounds:
        draft.read(dense(name, each))
    return draft.done(select_first=ends is None)


def sub_seq(
    input: Layer,
    offsets: Layer,
    sizes: Layer,
    act: BaseActivation | None = None,
    bias_attr: Bias = None,
    name: str | None = None,
) -> Layer:
    """Of each sequence ``sizes`` elements from ``offsets`` on: data layers of ids, one for each sequence."""
    name = name or default_name("sub_seq")
    draft = Draft("subseq", name, size=input.size, act=act or Identity())
    draft.read(dense(name, input))
    for each in (offsets, sizes):
        if not gives_ids(each):
            raise WrongCall(
                f"layer {name!r}: offsets and sizes are ids, such as integer_value(8), not {each!r}"
            )
        draft.read(each)
    draft.bias(attribute_alone(bias_attr), by_default=False)
    return draft.done()


def sub_nested_seq(input: Layer, selected_indices: Layer, name: str | None = None) -> Layer:
    """Of each sequence of sequences the inner ones that the columns of ``selected_indices`` name, up to
    -1."""
    name = name or default_name("sub_nested_seq_layer")
    draft = Draft("sub_nested_seq", name, size=input.size)
    draft.read(dense(name, input))
    draft.read(dense(name, selected_indices))
    return draft.done()


def kmax_seq_score(input: Layer, name: str | None = None, beam_size: int = 1) -> Layer:
    """The numbers of the ``beam_size`` elements of each sequence with the greatest scores; -1 where it has
    fewer. ``input`` has one column."""
    name = name or default_name("kmax_seq_score_layer")
    (scores,) = listed(name, input)
    if scores.size != 1 or beam_size < 1:
        raise WrongCall(f"layer {name!r} takes one score of each element, and 1 or more, not {scores!r}")
    draft = Draft("kmax_seq_score", name, size=beam_size)
    draft.read(dense(name, scores))
    return draft.done(beam_size=beam_size)


def seq_reshape(
    input: Layer,
    reshape_size: int,
    act: BaseActivation | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
    bias_attr: Bias = None,
) -> Layer:
    """The numbers of each sequence in their order, in elements of ``reshape_size``."""
    name = name or default_name("seqreshape")
    draft = Draft("seqreshape", name, size=reshape_size, act=act or Identity(), layer_attr=layer_attr)
    draft.read(dense(name, input))
    draft.bias(bias_attr, by_default=False)
    return draft.done()
