"""What layers of images are, as data: how windows move over them, and what boxes say of them.

It must never know how a layer is computed. Guarantee: that of _config.py.
"""

from __future__ import annotations

from paddle._engine.protobuf import Field, Message


class ConvConfig(Message):
    """How a filter moves over an image; names without y and z are of x, across."""

    FIELDS = {  # noqa: RUF012
        "filter_size": Field(1, "uint64"),
        "channels": Field(2, "uint64"),
        "stride": Field(3, "uint64"),
        "padding": Field(4, "uint64"),
        "groups": Field(5, "uint64"),
        "filter_channels": Field(6, "uint64"),
        "output_x": Field(7, "uint64"),
        "img_size": Field(8, "uint64"),
        "caffe_mode": Field(9, "bool", True),
        "filter_size_y": Field(10, "uint64"),
        "padding_y": Field(11, "uint64"),
        "stride_y": Field(12, "uint64"),
        "output_y": Field(13, "uint64"),
        "img_size_y": Field(14, "uint64"),
        "dilation": Field(15, "uint64", 1),
        "dilation_y": Field(16, "uint64", 1),
        "filter_size_z": Field(17, "uint64", 1),
        "padding_z": Field(18, "uint64", 1),
        "stride_z": Field(19, "uint64", 1),
        "output_z": Field(20, "uint64", 1),
        "img_size_z": Field(21, "uint64", 1),
    }


class PoolConfig(Message):
    """How a window moves over an image, and what becomes of what it sees."""

    FIELDS = {  # noqa: RUF012
        "pool_type": Field(1, "string"),
        "channels": Field(2, "uint64"),
        "size_x": Field(3, "uint64"),
        "stride": Field(5, "uint64", 1),
        "output_x": Field(6, "uint64"),
        "img_size": Field(7, "uint64"),
        "padding": Field(8, "uint64"),
        "size_y": Field(9, "uint64"),
        "stride_y": Field(10, "uint64"),
        "output_y": Field(11, "uint64"),
        "img_size_y": Field(12, "uint64"),
        "padding_y": Field(13, "uint64"),
        "size_z": Field(14, "uint64", 1),
        "stride_z": Field(15, "uint64", 1),
        "output_z": Field(16, "uint64", 1),
        "img_size_z": Field(17, "uint64", 1),
        "padding_z": Field(18, "uint64", 1),
        "exclude_mode": Field(19, "bool", True),
    }


class ImageConfig(Message):
    """An image."""

    FIELDS = {  # noqa: RUF012
        "channels": Field(2, "uint64"),
        "img_size": Field(8, "uint64"),
        "img_size_y": Field(9, "uint64"),
        "img_size_z": Field(10, "uint64", 1),
    }


class NormConfig(Message):
    """How the channels near each one count."""

    FIELDS = {  # noqa: RUF012
        "norm_type": Field(1, "string"),
        "channels": Field(2, "uint64"),
        "size": Field(3, "uint64"),
        "scale": Field(4, "double"),
        "pow": Field(5, "double"),
        "output_x": Field(6, "uint64"),
        "img_size": Field(7, "uint64"),
        "blocked": Field(8, "bool"),
        "output_y": Field(9, "uint64"),
        "img_size_y": Field(10, "uint64"),
    }


class BilinearInterpConfig(Message):
    """How large an image becomes."""

    FIELDS = {  # noqa: RUF012
        "image_conf": Field(1, ImageConfig),
        "out_size_x": Field(2, "uint64"),
        "out_size_y": Field(3, "uint64"),
    }


class BlockExpandConfig(Message):
    """How a block moves over an image, each of whose places becomes an element of a sequence."""

    FIELDS = {  # noqa: RUF012
        "channels": Field(1, "uint64"),
        "stride_x": Field(2, "uint64"),
        "stride_y": Field(3, "uint64"),
        "padding_x": Field(4, "uint64"),
        "padding_y": Field(5, "uint64"),
        "block_x": Field(6, "uint64"),
        "block_y": Field(7, "uint64"),
        "output_x": Field(8, "uint64"),
        "output_y": Field(9, "uint64"),
        "img_size_x": Field(10, "uint64"),
        "img_size_y": Field(11, "uint64"),
    }


class MaxOutConfig(Message):
    """Of how many channels the greatest is taken."""

    FIELDS = {"image_conf": Field(1, ImageConfig), "groups": Field(2, "uint64")}  # noqa: RUF012


class SppConfig(Message):
    """A pyramid of windows over an image."""

    FIELDS = {  # noqa: RUF012
        "image_conf": Field(1, ImageConfig),
        "pool_type": Field(2, "string"),
        "pyramid_height": Field(3, "uint64"),
    }


class PadConfig(Message):
    """How many zeros there are around an image, before and behind on each axis."""

    FIELDS = {  # noqa: RUF012
        "image_conf": Field(1, ImageConfig),
        "pad_c": Field(2, "uint64", repeated=True),
        "pad_h": Field(3, "uint64", repeated=True),
        "pad_w": Field(4, "uint64", repeated=True),
    }


class PriorBoxConfig(Message):
    """Boxes that stand on a grid: their sizes, ratios of sides, and how far they may be off."""

    FIELDS = {  # noqa: RUF012
        "min_size": Field(1, "uint64", repeated=True),
        "max_size": Field(2, "uint64", repeated=True),
        "aspect_ratio": Field(3, "float", repeated=True),
        "variance": Field(4, "float", repeated=True),
    }


class MultiBoxLossConfig(Message):
    """Which boxes count in a cost."""

    FIELDS = {  # noqa: RUF012
        "num_classes": Field(1, "uint64"),
        "overlap_threshold": Field(2, "float"),
        "neg_pos_ratio": Field(3, "float"),
        "neg_overlap": Field(4, "float"),
        "background_id": Field(5, "uint64"),
        "input_num": Field(6, "uint64"),
    }


class DetectionOutputConfig(Message):
    """Which boxes are kept of those that are found."""

    FIELDS = {  # noqa: RUF012
        "num_classes": Field(1, "uint64"),
        "nms_threshold": Field(2, "float"),
        "nms_top_k": Field(3, "uint64"),
        "background_id": Field(4, "uint64"),
        "input_num": Field(5, "uint64"),
        "keep_top_k": Field(6, "uint64"),
        "confidence_threshold": Field(7, "float"),
    }


class RoiPoolConfig(Message):
    """Into how many cells regions are cut."""

    FIELDS = {  # noqa: RUF012
        "pooled_width": Field(1, "uint64"),
        "pooled_height": Field(2, "uint64"),
        "spatial_scale": Field(3, "float"),
    }


class ScaleSubRegionConfig(Message):
    """What a piece of an image is multiplied by."""

    FIELDS = {"image_conf": Field(1, ImageConfig), "value": Field(2, "float")}  # noqa: RUF012


class UpsampleConfig(Message):
    """How large an image becomes, whose pixels go back to where a pooling took them from."""

    FIELDS = {  # noqa: RUF012
        "image_conf": Field(1, ImageConfig),
        "scale": Field(2, "uint64", 2),
        "scale_y": Field(3, "uint64", 2),
        "pad_out_x": Field(4, "bool"),
        "pad_out_y": Field(5, "bool"),
        "upsample_size": Field(6, "uint64"),
        "upsample_size_y": Field(7, "uint64"),
    }


class ReshapeConfig(Message):
    """Which axes become rows, and which columns."""

    FIELDS = {  # noqa: RUF012
        "height_axis": Field(1, "uint64", repeated=True),
        "width_axis": Field(2, "uint64", repeated=True),
    }
