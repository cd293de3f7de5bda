"""What a network is, as data: those fields of PaddlePaddle's messages that this face uses.

It must never know how a layer is computed. Guarantee: names, numbers and defaults of the fields are those of
``ModelConfig.proto``, so the bytes are read by, and from, the original.
"""

from __future__ import annotations

from paddle._engine.checkpoint.parameter_config import HookConfig, ParameterConfig
from paddle._engine.protobuf import Field, Message
from paddle.v2._image_config import (
    BilinearInterpConfig,
    BlockExpandConfig,
    ConvConfig,
    DetectionOutputConfig,
    ImageConfig,
    MaxOutConfig,
    MultiBoxLossConfig,
    NormConfig,
    PadConfig,
    PoolConfig,
    PriorBoxConfig,
    ReshapeConfig,
    RoiPoolConfig,
    ScaleSubRegionConfig,
    SppConfig,
    UpsampleConfig,
)

__all__ = [
    "BilinearInterpConfig",
    "BlockExpandConfig",
    "ClipConfig",
    "ConvConfig",
    "DetectionOutputConfig",
    "EvaluatorConfig",
    "GeneratorConfig",
    "HookConfig",
    "ImageConfig",
    "LayerConfig",
    "LayerInputConfig",
    "LinkConfig",
    "MaxOutConfig",
    "MemoryConfig",
    "ModelConfig",
    "MultiBoxLossConfig",
    "NormConfig",
    "OperatorConfig",
    "PadConfig",
    "ParameterConfig",
    "PoolConfig",
    "PriorBoxConfig",
    "ProjectionConfig",
    "ReshapeConfig",
    "RoiPoolConfig",
    "RowConvConfig",
    "ScaleSubRegionConfig",
    "SliceConfig",
    "SppConfig",
    "SubModelConfig",
    "UpsampleConfig",
]


class RowConvConfig(Message):
    """How many elements of a sequence count, from each one on."""

    FIELDS = {"context_length": Field(1, "uint64")}  # noqa: RUF012


class ClipConfig(Message):
    """Between what values are held."""

    FIELDS = {"min": Field(1, "double"), "max": Field(2, "double")}  # noqa: RUF012


class SliceConfig(Message):
    """Some columns that are neighbours."""

    FIELDS = {"start": Field(1, "uint64"), "end": Field(2, "uint64")}  # noqa: RUF012


class OperatorConfig(Message):
    """What a mixed layer makes of two of its inputs."""

    FIELDS = {  # noqa: RUF012
        "type": Field(1, "string"),
        "input_indices": Field(2, "int32", repeated=True),
        "input_sizes": Field(3, "uint64", repeated=True),
        "output_size": Field(4, "uint64"),
        "dotmul_scale": Field(5, "double", 1.0),
        "conv_conf": Field(6, ConvConfig),
        "num_filters": Field(7, "int32"),
    }


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
        "conv_conf": Field(8, ConvConfig),
        "num_filters": Field(9, "int32"),
        "offset": Field(11, "uint64"),
        "slices": Field(13, SliceConfig, repeated=True),
    }


class LayerInputConfig(Message):
    """One input of a layer, and the parameter between the two."""

    FIELDS = {  # noqa: RUF012
        "input_layer_name": Field(1, "string"),
        "input_parameter_name": Field(2, "string"),
        "conv_conf": Field(3, ConvConfig),
        "pool_conf": Field(4, PoolConfig),
        "norm_conf": Field(5, NormConfig),
        "proj_conf": Field(6, ProjectionConfig),
        "block_expand_conf": Field(7, BlockExpandConfig),
        "image_conf": Field(8, ImageConfig),
        "input_layer_argument": Field(9, "string"),
        "bilinear_interp_conf": Field(10, BilinearInterpConfig),
        "maxout_conf": Field(11, MaxOutConfig),
        "spp_conf": Field(12, SppConfig),
        "priorbox_conf": Field(13, PriorBoxConfig),
        "pad_conf": Field(14, PadConfig),
        "row_conv_conf": Field(15, RowConvConfig),
        "multibox_loss_conf": Field(16, MultiBoxLossConfig),
        "detection_output_conf": Field(17, DetectionOutputConfig),
        "clip_conf": Field(18, ClipConfig),
        "scale_sub_region_conf": Field(19, ScaleSubRegionConfig),
        "roi_pool_conf": Field(20, RoiPoolConfig),
        "upsample_conf": Field(21, UpsampleConfig),
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
        "partial_sum": Field(9, "uint64"),
        "drop_rate": Field(10, "double"),
        "num_classes": Field(11, "uint64"),
        "reversed": Field(13, "bool"),
        "active_gate_type": Field(14, "string"),
        "active_state_type": Field(15, "string"),
        "num_neg_samples": Field(16, "int32", 10),
        "neg_sampling_dist": Field(17, "double", repeated=True),
        "output_max_index": Field(19, "bool"),
        "softmax_selfnorm_alpha": Field(21, "double", 0.1),
        "norm_by_times": Field(25, "bool"),
        "coeff": Field(26, "double", 1.0),
        "average_strategy": Field(27, "string"),
        "error_clipping_threshold": Field(28, "double"),
        "operator_confs": Field(29, OperatorConfig, repeated=True),
        "NDCG_num": Field(30, "int32"),
        "max_sort_size": Field(31, "int32"),
        "slope": Field(32, "double"),
        "intercept": Field(33, "double"),
        "cos_scale": Field(34, "double"),
        "eos_id": Field(38, "uint64"),
        "beam_size": Field(39, "uint64"),
        "select_first": Field(40, "bool"),
        "trans_type": Field(41, "string", "non-seq"),
        "selective_fc_pass_generation": Field(42, "bool"),
        "has_selected_colums": Field(43, "bool", True),
        "selective_fc_full_mul_ratio": Field(44, "double", 0.02),
        "use_global_stats": Field(46, "bool"),
        "moving_average_fraction": Field(47, "double", 0.9),
        "bias_size": Field(48, "uint64"),
        "user_arg": Field(49, "string"),
        "height": Field(50, "uint64"),
        "width": Field(51, "uint64"),
        "blank": Field(52, "uint64"),
        "seq_pool_stride": Field(53, "int32", -1),
        "axis": Field(54, "int32", 2),
        "offset": Field(55, "uint64", repeated=True),
        "shape": Field(56, "uint64", repeated=True),
        "delta": Field(57, "double", 1.0),
        "depth": Field(58, "uint64", 1),
        "reshape_conf": Field(59, ReshapeConfig),
        "epsilon": Field(60, "double", 1e-5),
        "factor_size": Field(61, "uint64"),
    }


class EvaluatorConfig(Message):
    """One metric over layers."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string"),
        "type": Field(2, "string"),
        "input_layers": Field(3, "string", repeated=True),
        "chunk_scheme": Field(4, "string"),
        "num_chunk_types": Field(5, "int32"),
        "classification_threshold": Field(6, "double", 0.5),
        "positive_label": Field(7, "int32", -1),
        "dict_file": Field(8, "string"),
        "result_file": Field(9, "string"),
        "num_results": Field(10, "int32", 1),
        "delimited": Field(11, "bool", True),
        "excluded_chunk_types": Field(12, "int32", repeated=True),
        "top_k": Field(13, "int32", 1),
        "overlap_threshold": Field(14, "double", 0.5),
        "background_id": Field(15, "int32"),
        "evaluate_difficult": Field(16, "bool"),
        "ap_type": Field(17, "string", "11point"),
    }


class LinkConfig(Message):
    """A layer outside a group, and the one inside that stands for it, or the other way round."""

    FIELDS = {  # noqa: RUF012
        "layer_name": Field(1, "string"),
        "link_name": Field(2, "string"),
        "has_subseq": Field(3, "bool"),
    }


class MemoryConfig(Message):
    """A layer of a group, and the one that is what it was one moment earlier."""

    FIELDS = {  # noqa: RUF012
        "layer_name": Field(1, "string"),
        "link_name": Field(2, "string"),
        "boot_layer_name": Field(3, "string"),
        "boot_bias_parameter_name": Field(4, "string"),
        "boot_bias_active_type": Field(5, "string"),
        "is_sequence": Field(6, "bool"),
        "boot_with_const_id": Field(7, "uint64"),
    }


class GeneratorConfig(Message):
    """How a group makes sequences of its own."""

    FIELDS = {  # noqa: RUF012
        "max_num_frames": Field(1, "uint64"),
        "eos_layer_name": Field(2, "string"),
        "num_results_per_sample": Field(3, "int32", 1),
        "beam_size": Field(4, "int32", 1),
        "log_prob": Field(5, "bool", True),
    }


class SubModelConfig(Message):
    """A recurrent group, or the part of a network that is none."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string"),
        "layer_names": Field(2, "string", repeated=True),
        "input_layer_names": Field(3, "string", repeated=True),
        "output_layer_names": Field(4, "string", repeated=True),
        "evaluator_names": Field(5, "string", repeated=True),
        "is_recurrent_layer_group": Field(6, "bool"),
        "reversed": Field(7, "bool"),
        "memories": Field(8, MemoryConfig, repeated=True),
        "in_links": Field(9, LinkConfig, repeated=True),
        "out_links": Field(10, LinkConfig, repeated=True),
        "generator": Field(11, GeneratorConfig),
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
