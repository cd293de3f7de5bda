"""What a network is, as data: those fields of PaddlePaddle's messages that this face uses.

It must never know how a layer is computed. Guarantee: names, numbers and defaults of the fields are those of
``ModelConfig.proto``, so the bytes are read by, and from, the original.
"""

from __future__ import annotations

from paddle._engine.checkpoint.parameter_config import HookConfig, ParameterConfig
from paddle._engine.protobuf import Field, Message

__all__ = [
    "ConvConfig",
    "EvaluatorConfig",
    "HookConfig",
    "ImageConfig",
    "LayerConfig",
    "LayerInputConfig",
    "ModelConfig",
    "ParameterConfig",
    "PoolConfig",
    "ProjectionConfig",
    "SubModelConfig",
]


class ConvConfig(Message):
    """How a filter moves over an image; names without y are of x, across."""

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
        "exclude_mode": Field(18, "bool", True),
    }


class ImageConfig(Message):
    """An image."""

    FIELDS = {"channels": Field(2, "uint64")}  # noqa: RUF012


class ProjectionConfig(Message):
    """How one input of a mixed layer reaches it."""

    FIELDS = {  # noqa: RUF012
        "type": Field(1, "string"),
        "name": Field(2, "string"),
        "input_size": Field(3, "uint64"),
        "output_size": Field(4, "uint64"),
        "context_start": Field(5, "int32"),
        "context_length": Field(6, "int32"),
        "trainable_padding": Field(7, "bool"),
    }


class LayerInputConfig(Message):
    """One input of a layer, and the parameter between the two."""

    FIELDS = {  # noqa: RUF012
        "input_layer_name": Field(1, "string"),
        "input_parameter_name": Field(2, "string"),
        "conv_conf": Field(3, ConvConfig),
        "pool_conf": Field(4, PoolConfig),
        "proj_conf": Field(6, ProjectionConfig),
        "image_conf": Field(8, ImageConfig),
    }


class LayerConfig(Message):
    """One layer."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string"),
        "type": Field(2, "string"),
        "size": Field(3, "uint64"),
        "active_type": Field(4, "string"),
        "inputs": Field(5, LayerInputConfig, repeated=True),
        "bias_parameter_name": Field(6, "string"),
        "num_filters": Field(7, "uint64"),
        "shared_biases": Field(8, "bool"),
        "drop_rate": Field(10, "double"),
        "reversed": Field(13, "bool"),
        "active_gate_type": Field(14, "string"),
        "active_state_type": Field(15, "string"),
        "coeff": Field(26, "double", 1.0),
        "average_strategy": Field(27, "string"),
        "error_clipping_threshold": Field(28, "double"),
        "slope": Field(32, "double"),
        "intercept": Field(33, "double"),
        "select_first": Field(40, "bool"),
        "trans_type": Field(41, "string", "non-seq"),
        "use_global_stats": Field(46, "bool"),
        "moving_average_fraction": Field(47, "double", 0.9),
        "bias_size": Field(48, "uint64"),
        "height": Field(50, "uint64"),
        "width": Field(51, "uint64"),
        "epsilon": Field(60, "double", 1e-5),
    }


class EvaluatorConfig(Message):
    """One metric over layers."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string"),
        "type": Field(2, "string"),
        "input_layers": Field(3, "string", repeated=True),
        "top_k": Field(13, "int32", 1),
    }


class SubModelConfig(Message):
    """The part of a network that is no recurrent group: all of it, here."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string"),
        "layer_names": Field(2, "string", repeated=True),
        "input_layer_names": Field(3, "string", repeated=True),
        "output_layer_names": Field(4, "string", repeated=True),
        "evaluator_names": Field(5, "string", repeated=True),
        "is_recurrent_layer_group": Field(6, "bool"),
    }


class ModelConfig(Message):
    """A network: its layers in order of creation, and their parameters."""

    FIELDS = {  # noqa: RUF012
        "type": Field(1, "string", "nn"),
        "layers": Field(2, LayerConfig, repeated=True),
        "parameters": Field(3, ParameterConfig, repeated=True),
        "input_layer_names": Field(4, "string", repeated=True),
        "output_layer_names": Field(5, "string", repeated=True),
        "evaluators": Field(6, EvaluatorConfig, repeated=True),
        "sub_models": Field(8, SubModelConfig, repeated=True),
    }
