"""Detectors of one pass: heads over several features, what they cost, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.arithmetic import reduce_sum
from paddle.fluid.layers.detection.chosen import chosen, listed
from paddle.fluid.layers.detection.geometry import box_coder, iou_similarity
from paddle.fluid.layers.detection.keeping import overlapping
from paddle.fluid.layers.detection.matching import bipartite_match, target_assign
from paddle.fluid.layers.detection.priors import prior_box
from paddle.fluid.layers.images import conv2d
from paddle.fluid.layers.loss import smooth_l1, softmax_with_cross_entropy
from paddle.fluid.layers.nn import softmax
from paddle.fluid.layers.shaping import flatten, reshape, transpose
from paddle.fluid.layers.tensor import cast, concat

__all__ = ["detection_output", "multi_box_head", "ssd_loss"]


def detection_output(
    loc: Variable,
    scores: Variable,
    prior_box: Variable,
    prior_box_var: Variable | Sequence[float] | None,
    background_label: int = 0,
    nms_threshold: float = 0.3,
    nms_top_k: int = 400,
    keep_top_k: int = 200,
    score_threshold: float = 0.01,
    nms_eta: float = 1.0,
    return_index: bool = False,
) -> Any:
    """(label, score, box) of what offsets from priors, (n, priors, 4), and scores, (n, priors, classes),
    say: sequences, one for each image. As 1.8.5 does, class 0 is the background and ``nms_eta`` is 1."""
    boxes = box_coder(prior_box, prior_box_var, loc, "decode_center_size")
    chances = transpose(softmax(scores), [0, 2, 1])
    chances.stop_gradient = True
    told = (score_threshold, nms_top_k, keep_top_k, nms_threshold)
    return overlapping(boxes, chances, *told, return_index=return_index, layer="detection_output")


def ssd_loss(
    location: Variable,
    confidence: Variable,
    gt_box: Variable,
    gt_label: Variable,
    prior_box: Variable,
    prior_box_var: Variable | Sequence[float] | None = None,
    background_label: int = 0,
    overlap_threshold: float = 0.5,
    neg_pos_ratio: float = 3.0,
    neg_overlap: float = 0.5,
    loc_loss_weight: float = 1.0,
    conf_loss_weight: float = 1.0,
    match_type: str = "per_prediction",
    mining_type: str = "max_negative",
    normalize: bool = True,
    sample_size: int | None = None,
) -> Variable:
    """What offsets from priors, (n, priors, 4), and scores, (n, priors, classes), cost each image, (n, 1):
    of priors that match a box both, of as many others as ``neg_pos_ratio`` says, the dearest, the scores.

    ``gt_box`` and ``gt_label``: sequences, one for each image. ``normalize``: by how many priors match.
    """
    priors = int(confidence.shape[1])
    matches, near = bipartite_match(iou_similarity(gt_box, prior_box), match_type, overlap_threshold)
    labels = reshape(gt_label, [0] * (len(gt_label.shape) - 1) + [-1, 1])
    labels.stop_gradient = True
    logits = flatten(confidence, axis=2)
    first, _ = target_assign(labels, matches, mismatch_value=background_label)
    costs = reshape(softmax_with_cross_entropy(logits, _column(first)), [-1, priors])
    costs.stop_gradient = True
    told = {"neg_pos_ratio": neg_pos_ratio, "neg_dist_threshold": neg_overlap, "mining_type": mining_type}
    negative, matches = _mined(costs, matches, near, {**told, "sample_size": sample_size or 0})
    wanted, counts = target_assign(
        box_coder(prior_box, prior_box_var, gt_box), matches, mismatch_value=background_label
    )
    right, weight = target_assign(labels, matches, negative, background_label)
    cost = softmax_with_cross_entropy(logits, _column(right))
    assert isinstance(cost, Variable)
    said = cost * _flat(weight)
    placed = smooth_l1(flatten(location, axis=2), _flat(wanted)) * _flat(counts)
    loss = conf_loss_weight * said + loc_loss_weight * placed
    loss = reduce_sum(reshape(loss, [-1, priors]), dim=1, keep_dim=True)
    return loss / reduce_sum(_flat(counts)) if normalize else loss


def _mined(
    costs: Variable, matches: Variable, near: Variable, attrs: dict[str, Any]
) -> tuple[Variable, Variable]:
    """The priors that cost most of those that match nothing, and the matches that count."""
    if attrs["mining_type"] != "max_negative":
        raise BadArgument(f"ssd_loss: mining_type is 'max_negative', not {attrs['mining_type']!r}")
    inputs = {"ClsLoss": costs, "MatchIndices": matches, "MatchDist": near}
    outs = {"NegIndices": "int32", "UpdatedMatchIndices": "int32"}
    negative, counting = chosen("mine_hard_examples", inputs, outs, attrs)
    return negative, counting


def _flat(x: Variable) -> Variable:
    made = flatten(x, axis=2)
    made.stop_gradient = True
    return made


def _column(labels: Variable) -> Variable:
    made = cast(flatten(labels, axis=2), "int64")
    made.stop_gradient = True
    return made


def multi_box_head(
    inputs: Sequence[Variable],
    image: Variable,
    base_size: int,
    num_classes: int,
    aspect_ratios: Sequence[Any],
    min_ratio: int | None = None,
    max_ratio: int | None = None,
    min_sizes: Sequence[Any] | None = None,
    max_sizes: Sequence[Any] | None = None,
    steps: Sequence[float] | None = None,
    step_w: Sequence[float] | None = None,
    step_h: Sequence[float] | None = None,
    offset: float = 0.5,
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = True,
    clip: bool = False,
    kernel_size: int = 1,
    pad: int = 0,
    stride: int = 1,
    name: str | None = None,
    min_max_aspect_ratios_order: bool = False,
) -> tuple[Variable, Variable, Variable, Variable]:
    """Of all features offsets, (n, priors, 4), and scores, (n, priors, classes), by a convolution each, and
    their priors, (priors, 4), with variances. Sizes are told, or follow from ``base_size`` and the ratios in
    hundredths, in even steps from features to features. Of one input, as in 1.8.5, nothing is put together:
    (n, priors * 4), (n, priors * classes), and priors as ``prior_box`` gives them."""
    smallest, largest = _sizes(len(inputs), base_size, min_ratio, max_ratio, min_sizes, max_sizes)
    across, down = (steps, steps) if steps is not None else (step_w, step_h)
    for what, given in (("aspect_ratios", aspect_ratios), ("step_w", across), ("step_h", down)):
        if given is not None and (not isinstance(given, list | tuple) or len(given) != len(inputs)):
            raise BadArgument(f"multi_box_head: {what} is a list, one for each of {len(inputs)} inputs")
    moving = {"filter_size": kernel_size, "padding": pad, "stride": stride}
    found: list[list[Variable]] = [[], [], [], []]
    for at, features in enumerate(inputs):
        sizes = listed(smallest[at]), listed(largest[at])
        shapes = listed(aspect_ratios[at]) if aspect_ratios is not None else []
        apart = [across[at] if across else 0.0, down[at] if down else 0.0]
        told = (variance, flip, clip, apart, offset, None, min_max_aspect_ratios_order)
        box, spread = prior_box(features, image, *sizes, shapes, *told)
        count = int(box.shape[2])
        for rows, size in zip(found, (4, num_classes), strict=False):
            said = transpose(conv2d(features, count * size, **moving), [0, 2, 3, 1])
            rows.append(flatten(said, axis=1))
        found[2].append(box)
        found[3].append(spread)
    places, scores, boxes, spreads = _joined(found, num_classes)
    boxes.stop_gradient = spreads.stop_gradient = True
    return places, scores, boxes, spreads


def _joined(found: list[list[Variable]], classes: int) -> list[Variable]:
    """Of all inputs; of one as it is."""
    if len(found[0]) == 1:
        return [each[0] for each in found]
    rows = zip(found[:2], (4, classes), strict=True)
    boxes = [concat([flatten(one, axis=3) for one in each]) for each in found[2:]]
    said = [reshape(concat(each, axis=1), [0, -1, size]) for each, size in rows]
    return said + boxes


def _sizes(
    count: int, base: int, min_ratio: int | None, max_ratio: int | None, smallest: Any, largest: Any
) -> tuple[Any, Any]:
    if smallest is not None and largest is not None:
        if len(smallest) != count or len(largest) != count:
            raise BadArgument(f"multi_box_head: min_sizes and max_sizes are {count} each, one for each input")
        return smallest, largest
    if count <= 2 or min_ratio is None or max_ratio is None:
        raise BadArgument(
            "multi_box_head takes min_sizes and max_sizes or, of three inputs or more, the ratios"
        )
    step = floor((max_ratio - min_ratio) / (count - 2))
    ratios = range(min_ratio, max_ratio + 1, step)
    return (
        [base * 0.10, *(base * ratio / 100.0 for ratio in ratios)],
        [base * 0.20, *(base * (ratio + step) / 100.0 for ratio in ratios)],
    )
