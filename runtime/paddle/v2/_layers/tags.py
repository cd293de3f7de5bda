"""Tags of sequences: what the right ones cost, and which are the best.

They must never know how they are computed. Guarantee: the parameter of ``crf`` is (size + 2, size), rows of
how good tags are at the beginning, at the end, and after each tag; ``crf_decoding`` reads the same one by its
name.
"""

from __future__ import annotations

from paddle.v2._draft import Draft, dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.learned import Extra, Param
from paddle.v2.config_base import Layer, default_name

__all__ = ["crf", "crf_decoding", "ctc", "warp_ctc"]


def crf(
    input: Layer,
    label: Layer,
    size: int | None = None,
    weight: Layer | None = None,
    param_attr: Param = None,
    name: str | None = None,
    coeff: float = 1.0,
    layer_attr: Extra = None,
) -> Layer:
    """-log of the probability of a sequence's tags, each of which depends on the one before it.

    ``input`` says for each element how good each tag is; ``label`` is a sequence of tags. ``weight``: of each
    sequence. ``coeff`` multiplies the gradient, not the cost.
    """
    name = name or default_name("crf_layer")
    (source,) = listed(name, input)
    _check(name, source, label, size)
    draft = Draft("crf", name, size=1, layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [source.size + 2, source.size])
    draft.read(label)
    if weight is not None:
        draft.read(dense(name, *listed(name, weight)))
    return draft.done(coeff=coeff, num_classes=source.size)


def crf_decoding(
    input: Layer,
    size: int,
    label: Layer | None = None,
    param_attr: Param = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """The best tags of each sequence, as ids; with ``label`` also 1 for each wrong one and 0 for others."""
    name = name or default_name("crf_decoding_layer")
    (source,) = listed(name, input)
    if label is not None:
        _check(name, source, label, size)
    elif size != source.size:
        raise WrongCall(f"layer {name!r} has size {size}, its input {source.size}")
    draft = Draft("crf_decoding", name, size=1 if label is not None else source.size, layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [source.size + 2, source.size])
    if label is not None:
        draft.read(label)
    return draft.done(num_classes=source.size)


def ctc(
    input: Layer,
    label: Layer,
    size: int | None = None,
    name: str | None = None,
    norm_by_times: bool = False,
    layer_attr: Extra = None,
) -> Layer:
    """-log of the probability of the label's tags, in order, over all ways to place them among more elements.

    ``input`` has Softmax, and one column more than there are tags: the last one, for none. ``norm_by_times``
    divides the gradient, not the cost, by the number of elements.
    """
    name = name or default_name("ctc_layer")
    return _aligned("ctc", name, input, label, size, layer_attr, None, norm_by_times)


def warp_ctc(
    input: Layer,
    label: Layer,
    size: int | None = None,
    name: str | None = None,
    blank: int = 0,
    norm_by_times: bool = False,
    layer_attr: Extra = None,
) -> Layer:
    """As ``ctc``, of an input without activation, in which column ``blank`` is that for none."""
    name = name or default_name("warp_ctc_layer")
    return _aligned("warp_ctc", name, input, label, size, layer_attr, blank, norm_by_times)


def _aligned(
    type: str,
    name: str,
    input: Layer,
    label: Layer,
    size: int | None,
    layer_attr: Extra,
    blank: int | None,
    norm_by_times: bool,
) -> Layer:
    (source,), (tags,) = listed(name, input), listed(name, label)
    if not gives_ids(tags):
        raise WrongCall(f"layer {name!r}: its label is a sequence of integers, not {tags!r}")
    if size not in (None, source.size):
        raise WrongCall(f"layer {name!r} has size {size}, its input {source.size}")
    blank = source.size - 1 if blank is None else blank
    if not 0 <= blank < source.size:
        raise WrongCall(f"layer {name!r}: its input has no column {blank}, for no tag")
    draft = Draft(type, name, size=1, layer_attr=layer_attr)
    draft.read(dense(name, source))
    draft.read(tags)
    return draft.done(blank=blank, norm_by_times=bool(norm_by_times), num_classes=source.size)


def _check(name: str, source: Layer, label: Layer, size: int | None) -> None:
    (tags,) = listed(name, label)
    if not gives_ids(tags):
        raise WrongCall(f"layer {name!r}: its label is a sequence of integers, not {tags!r}")
    if size not in (None, source.size):
        raise WrongCall(f"layer {name!r} has size {size}, its input {source.size}")
