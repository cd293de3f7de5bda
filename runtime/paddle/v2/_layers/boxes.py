"""Layers that find objects in images by boxes: those of SSD, and regions of Fast R-CNN.

They must never know how they are computed. Guarantee: what reads one prior each fits the others, which is
checked here, where it is written.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from paddle.v2._config import DetectionOutputConfig, MultiBoxLossConfig, PriorBoxConfig, RoiPoolConfig
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.images import image_of
from paddle.v2.config_base import Layer, default_name

__all__ = ["detection_output", "multibox_loss", "priorbox", "roi_pool"]

Layers = Layer | Sequence[Layer]
_PRIOR, _LABEL, _FOUND, _REGION = 8, 6, 7, 5
_EQUAL = 1e-6


def priorbox(
    input: Layer,
    image: Layer,
    aspect_ratio: Sequence[float],
    variance: Sequence[float],
    min_size: Sequence[int],
    max_size: Sequence[int] = (),
    name: str | None = None,
) -> Layer:
    """Boxes in the middle of each pixel of ``input``, as shares of ``image``: what SSD begins with.

    For each of ``min_size``, in pixels of the image: a square; one between it and the same of ``max_size``,
    if there are any; and one for each ratio and its inverse. A box is 8 numbers: left, top, right, bottom
    and, of each of these, ``variance``. ``image`` is the data layer, with height and width.
    """
    name = name or default_name("priorbox")
    (source,) = listed(name, input)
    (pictures,) = listed(name, image)
    if pictures.layer_type != "data" or not (pictures.config.height and pictures.config.width):
        raise WrongCall(f"layer {name!r}: image is a data layer with height and width, not {pictures!r}")
    if len(variance) != 4 or not min_size or len(max_size) not in (0, len(min_size)):
        raise WrongCall(
            f"layer {name!r}: variance is 4 numbers, min_size one or more, and max_size none or as many, not "
            f"{list(variance)}, {list(min_size)} and {list(max_size)}"
        )
    _, rows, columns = image_of(name, source, None)
    others = [float(ratio) for ratio in aspect_ratio if abs(ratio - 1) >= _EQUAL]
    count = (1 + 2 * len(others)) * len(min_size) + len(max_size)
    draft = Draft("priorbox", name, size=rows * columns * count * _PRIOR)
    draft.read(source)
    draft.read(pictures)
    draft.config.inputs[0].priorbox_conf = PriorBoxConfig(
        min_size=[_whole(name, size) for size in min_size],
        max_size=[_whole(name, size) for size in max_size],
        aspect_ratio=[float(ratio) for ratio in aspect_ratio],
        variance=[float(each) for each in variance],
    )
    layer = draft.done()
    layer.num_filters = count * 4
    return layer


def multibox_loss(
    input_loc: Layers,
    input_conf: Layers,
    priorbox: Layer,
    label: Layer,
    num_classes: int,
    overlap_threshold: float = 0.5,
    neg_pos_ratio: float = 3.0,
    neg_overlap: float = 0.5,
    background_id: int = 0,
    name: str | None = None,
) -> Layer:
    """What the boxes of a batch cost: how far off they are, and the logarithms of their classes.

    ``label`` is a sequence of an image's objects: class, left, top, right, bottom as shares of the image, and
    whether it is difficult. A prior shows the object that it overlaps by ``overlap_threshold`` or more, and
    every object has at least one prior. Of those left over, which overlap none by ``neg_overlap``, the worst
    ``neg_pos_ratio`` for each that shows one (a whole number: 3.5 is 3) are to show ``background_id``. All is
    divided by how many show one in the batch, and each sample reports that one number.
    """
    name = name or default_name("multibox_loss")
    (labelled,) = listed(name, label)
    if labelled.size != _LABEL:
        raise WrongCall(
            f"layer {name!r}: its label is a data layer of type dense_vector_sequence({_LABEL}): class, "
            f"left, top, right, bottom and difficult of each object, not {labelled!r}"
        )
    draft = Draft("multibox_loss", name, size=1)
    values = _read(draft, input_loc, input_conf, priorbox, num_classes, background_id, labelled)
    draft.config.inputs[0].multibox_loss_conf = MultiBoxLossConfig(
        overlap_threshold=overlap_threshold, neg_pos_ratio=neg_pos_ratio, neg_overlap=neg_overlap, **values
    )
    return draft.done()


def detection_output(
    input_loc: Layers,
    input_conf: Layers,
    priorbox: Layer,
    num_classes: int,
    nms_threshold: float = 0.45,
    nms_top_k: int = 400,
    keep_top_k: int = 200,
    confidence_threshold: float = 0.01,
    background_id: int = 0,
    name: str | None = None,
) -> Layer:
    """The objects of a batch's images, ``keep_top_k`` of each at most: ``infer`` gives a row for each.

    A row is the number of the image in its batch, class, score, left, top, right and bottom. Of a class the
    ``nms_top_k`` best above ``confidence_threshold`` are looked at (0: all), and none is kept that overlaps a
    better one by more than ``nms_threshold``.
    """
    name = name or default_name("detection_output")
    if keep_top_k < 1 or nms_top_k < 0:
        raise WrongCall(
            f"layer {name!r}: keep_top_k is 1 or more and nms_top_k 0 (all) or more, not {keep_top_k} and "
            f"{nms_top_k}"
        )
    draft = Draft("detection_output", name, size=keep_top_k * _FOUND)
    values = _read(draft, input_loc, input_conf, priorbox, num_classes, background_id)
    draft.config.inputs[0].detection_output_conf = DetectionOutputConfig(
        nms_threshold=nms_threshold,
        nms_top_k=nms_top_k,
        keep_top_k=keep_top_k,
        confidence_threshold=confidence_threshold,
        **values,
    )
    return draft.done()


def roi_pool(
    input: Layer,
    rois: Layer,
    pooled_width: int,
    pooled_height: int,
    spatial_scale: float,
    num_channels: int | None = None,
    name: str | None = None,
) -> Layer:
    """The greatest of each cell of regions of an image, each cut into ``pooled_height`` x ``pooled_width``.

    A row of ``rois`` is a region: the number of its image in the batch, left, top, right and bottom, which
    times ``spatial_scale`` are pixels of ``input``. There is a row of output for each.
    """
    name = name or default_name("roi_pool")
    (source,), (regions,) = listed(name, input), listed(name, rois)
    if regions.size != _REGION:
        raise WrongCall(
            f"layer {name!r}: a row of rois is {_REGION} numbers: image, left, top, right and bottom, not "
            f"those of {regions!r}"
        )
    if min(pooled_width, pooled_height) < 1:
        raise WrongCall(f"layer {name!r}: {pooled_height} x {pooled_width} cells are none")
    channels, _, _ = image_of(name, dense(name, source), num_channels)
    draft = Draft("roi_pool", name, size=channels * pooled_width * pooled_height)
    draft.read(source)
    draft.read(dense(name, regions))
    draft.config.inputs[0].roi_pool_conf = RoiPoolConfig(
        pooled_width=pooled_width, pooled_height=pooled_height, spatial_scale=spatial_scale
    )
    layer = draft.done(height=pooled_height, width=pooled_width)
    layer.num_filters = channels
    return layer


def _read(
    draft: Draft,
    locs: Layers,
    confs: Layers,
    priors: Layer,
    num_classes: int,
    background_id: int,
    *labels: Layer,
) -> dict[str, int]:
    """Read priors, labels, offsets and scores, which must be of as many boxes; what configurations share."""
    name = draft.config.name
    (prior,) = listed(name, priors)
    offsets, scores = listed(name, locs), listed(name, confs)
    count, rest = divmod(prior.size, _PRIOR)
    sizes = [sum(each.size for each in part) for part in (offsets, scores)]
    if len(offsets) != len(scores) or rest or sizes != [4 * count, num_classes * count]:
        raise WrongCall(
            f"layer {name!r}: {len(offsets)} layers with {sizes[0]} offsets and {len(scores)} with "
            f"{sizes[1]} scores do not fit {count} priors, which have 4 offsets and {num_classes} scores each"
        )
    if not 0 <= background_id < num_classes:
        raise WrongCall(f"layer {name!r}: of {num_classes} classes none is background_id={background_id}")
    for each in (prior, *labels, *offsets, *scores):
        draft.read(dense(name, each))
    return {"num_classes": num_classes, "input_num": len(offsets), "background_id": background_id}


def _whole(name: str, size: Any) -> int:
    try:
        return operator.index(size)
    except TypeError:
        raise WrongCall(f"layer {name!r}: sizes of boxes are whole pixels, not {size!r}") from None
