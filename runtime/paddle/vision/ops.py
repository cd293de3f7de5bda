"""What detectors are made of: ``paddle.vision.ops``.

It must never compute: each function appends operators to the default program. Guarantee: what did not change
since fluid is fluid's own; of regions ``boxes_num`` says how many each image has.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

from paddle._absent import NotInThisRelease
from paddle._public_names import missing
from paddle.fluid.layers import detection
from paddle.nn.functional.conv import sides
from paddle.nn.initializer import Normal
from paddle.nn.layer.activation import ReLU
from paddle.nn.layer.container import Sequential
from paddle.nn.layer.conv import Conv2D
from paddle.nn.layer.layers import Layer
from paddle.nn.layer.norm import BatchNorm2D
from paddle.tensor import math
from paddle.tensor._append import append
from paddle.tensor.manipulation import cast, gather, reshape, unsqueeze
from paddle.tensor.manipulation import slice as part
from paddle.tensor.search import argsort

__all__ = [
    *("ConvNormActivation", "DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "box_coder"),
    *("deform_conv2d", "distribute_fpn_proposals", "matrix_nms", "nms", "prior_box", "psroi_pool"),
    *("roi_align", "roi_pool", "yolo_box", "yolo_loss"),
]


def yolo_loss(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Any = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Any:
    """See ``fluid.layers.yolov3_loss``."""
    given = (anchors, anchor_mask, class_num, ignore_thresh, downsample_ratio)
    return detection.yolov3_loss(x, gt_box, gt_label, *given, gt_score, use_label_smooth, name, scale_x_y)


def yolo_box(
    x: Any,
    img_size: Any,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Any, Any]:
    """See ``fluid.layers.yolo_box``."""
    if iou_aware:
        raise NotInThisRelease("yolo_box with iou_aware is not in this release")
    given = (anchors, class_num, conf_thresh, downsample_ratio, clip_bbox, name, scale_x_y)
    boxes, scores = detection.yolo_box(x, img_size, *given)
    return boxes, scores


def prior_box(
    input: Any,
    image: Any,
    min_sizes: Any,
    max_sizes: Any = None,
    aspect_ratios: Any = (1.0,),
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """See ``fluid.layers.prior_box``."""
    given = (min_sizes, max_sizes, aspect_ratios, variance, flip, clip, steps, offset, name)
    boxes, variances = detection.prior_box(input, image, *given, min_max_aspect_ratios_order)
    return boxes, variances


def box_coder(
    prior_box: Any,
    prior_box_var: Any,
    target_box: Any,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Any:
    """See ``fluid.layers.box_coder``."""
    return detection.box_coder(prior_box, prior_box_var, target_box, code_type, box_normalized, name, axis)


def distribute_fpn_proposals(
    fpn_rois: Any,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Any = None,
    name: str | None = None,
) -> tuple[list[Any], Any, Any]:
    """To each level, from ``min_level`` on, the regions of about its size; where each region then is among
    all of them; and how many each level has of each image, where ``rois_num`` says it of all."""
    from paddle._program.writing.layer_helper import LayerHelper

    helper = LayerHelper("distribute_fpn_proposals", name=name)
    levels = range(min_level, max_level + 1)

    def made(dtype: Any) -> Any:
        return helper.create_variable_for_type_inference(dtype, stop_gradient=True)

    parts, back = [made(fpn_rois.dtype) for _ in levels], made("int32")
    inputs, outputs = {"FpnRois": [fpn_rois]}, {"MultiFpnRois": parts, "RestoreIndex": [back]}
    counts = None
    if rois_num is not None:
        counts = [made("int32") for _ in levels]
        inputs["RoisNum"], outputs["MultiLevelRoIsNum"] = [rois_num], counts
    told = {"min_level": min_level, "max_level": max_level, "refer_level": refer_level}
    told |= {"refer_scale": refer_scale, "pixel_offset": pixel_offset}
    helper.append_op(type=helper.layer_type, inputs=inputs, outputs=outputs, attrs=told)
    return parts, back, counts


def matrix_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """See ``fluid.layers.matrix_nms``; gives what is found, how much of each image, and its numbers."""
    from paddle.tensor._append import append_all

    told = {"background_label": background_label, "score_threshold": score_threshold}
    told |= {"post_threshold": post_threshold, "nms_top_k": nms_top_k, "keep_top_k": keep_top_k}
    told |= {"gaussian_sigma": gaussian_sigma, "use_gaussian": use_gaussian, "normalized": normalized}
    slots = {"Index": "int32", "RoisNum": "int32"}
    inputs, outputs = {"BBoxes": bboxes, "Scores": scores}, ("Out", *slots)
    found, index, counts = append_all(
        "matrix_nms", inputs, told, outputs=outputs, dtypes=slots, stop_gradient=True, name=name
    )
    return found, counts if return_rois_num else None, index if return_index else None


def nms(
    boxes: Any,
    iou_threshold: float = 0.3,
    scores: Any = None,
    category_idxs: Any = None,
    categories: Any = None,
    top_k: int | None = None,
) -> Any:
    """The numbers of boxes, (left, top, right, bottom), that overlap no better one by more than the
    threshold, the best first, ``top_k`` of them: by ``scores``, or in their order. Boxes of other categories
    are let be."""
    if scores is None:
        return append("nms", {"Boxes": boxes}, _over(iou_threshold), **_CHOSEN)
    if category_idxs is not None:
        if categories is None:
            raise ValueError("nms by category_idxs needs categories, a list of all there are")
        apart = math.scale(math.subtract(math.max(boxes), math.min(boxes)), 1.0, 1.0)
        boxes = math.add(boxes, unsqueeze(math.multiply(cast(category_idxs, boxes.dtype), apart), 1))
    order = argsort(scores, descending=True)
    kept = append("nms", {"Boxes": gather(boxes, order)}, _over(iou_threshold), **_CHOSEN)
    found = gather(order, kept)
    return found if top_k is None else part(found, [0], [0], [top_k])


_CHOSEN: Any = {"outputs": ("KeepBoxesIdxs",), "dtype": "int64", "stop_gradient": True}


def _over(threshold: float) -> dict[str, float]:
    return {"iou_threshold": float(threshold)}


def _of_regions(
    type: str, x: Any, boxes: Any, counts: Any, size: Any, told: dict[str, Any], name: str | None
) -> Any:
    high, wide = sides(size)
    inputs = {"X": x, "ROIs": boxes, "RoisNum": counts}
    return append(type, inputs, {"pooled_height": high, "pooled_width": wide, **told}, name=name)


def psroi_pool(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Any:
    """See ``fluid.layers.psroi_pool``; ``x`` has as many channels for each part as are given."""
    parts = prod(sides(output_size))
    told = {"output_channels": int(x.shape[1]) // parts, "spatial_scale": float(spatial_scale)}
    return _of_regions("psroi_pool", x, boxes, boxes_num, output_size, told, name)


def roi_pool(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Any:
    """Of each part of each region the greatest; see ``fluid.layers.roi_pool``."""
    high, wide = sides(output_size)
    told = {"pooled_height": high, "pooled_width": wide, "spatial_scale": float(spatial_scale)}
    inputs = {"X": x, "ROIs": boxes, "RoisNum": boxes_num}
    return append("roi_pool", inputs, told, outputs=("Out", "Argmax"), name=name)


def roi_align(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Any:
    """See ``fluid.layers.roi_align``; ``aligned``: the middle of a pixel is at half of one."""
    told = {"spatial_scale": float(spatial_scale), "sampling_ratio": sampling_ratio, "aligned": aligned}
    return _of_regions("roi_align", x, boxes, boxes_num, output_size, told, name)


class _OfRegions(Layer):
    _function: Any = None

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._given = (output_size, spatial_scale)

    def forward(self, x: Any, boxes: Any, boxes_num: Any, **others: Any) -> Any:
        """Append the function."""
        return type(self)._function(x, boxes, boxes_num, *self._given, **others)


class PSRoIPool(_OfRegions):
    """See ``psroi_pool``."""

    _function = psroi_pool


class RoIPool(_OfRegions):
    """See ``roi_pool``."""

    _function = roi_pool


class RoIAlign(_OfRegions):
    """See ``roi_align``."""

    _function = roi_align


def deform_conv2d(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Any = None,
    name: str | None = None,
) -> Any:
    """A convolution by ``weight`` whose windows see each pixel ``offset`` apart, and as much of it as
    ``mask`` says; see ``fluid.layers.deformable_conv``."""
    inputs = {"Input": x, "Filter": weight, "Offset": offset, "Mask": mask}
    told = {"strides": sides(stride), "paddings": sides(padding), "dilations": sides(dilation)}
    told |= {"groups": groups, "deformable_groups": deformable_groups, "im2col_step": 1}
    type = "deformable_conv_v1" if mask is None else "deformable_conv"
    found = append(type, inputs, told, outputs=("Output",), name=name)
    return found if bias is None else math.add(found, reshape(bias, [1, -1, 1, 1]))


class DeformConv2D(Layer):
    """See ``deform_conv2d``."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        self._told = (stride, padding, dilation, deformable_groups, groups)
        window = sides(kernel_size)
        spread = Normal(0.0, (2.0 / (prod(window) * in_channels)) ** 0.5)
        shape = [out_channels, in_channels // groups, *window]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=spread)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        """Append the convolution."""
        return deform_conv2d(x, offset, self.weight, self.bias, *self._told, mask)


class ConvNormActivation(Sequential):
    """A convolution, a norm and an activation; without ``padding`` images keep their size."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Any = BatchNorm2D,
        activation_layer: Any = ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        around = (kernel_size - 1) // 2 * dilation if padding is None else padding
        has_bias = norm_layer is None if bias is None else bias
        told = (kernel_size, stride, around, dilation, groups)
        layers = [
            Conv2D(in_channels, out_channels, *told, bias_attr=None if has_bias else False),
            *([norm_layer(out_channels)] if norm_layer is not None else []),
            *([activation_layer()] if activation_layer is not None else []),
        ]
        super().__init__(*layers)


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name, "")
