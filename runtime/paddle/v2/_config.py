"""What a network is, as data: those fields of PaddlePaddle's messages that this face uses.

It must never know how a layer is computed. Guarantee: names, numbers and defaults of the fields are those of
``ModelConfig.proto``, so the bytes are read by, and from, the original.
"""

from __future__ import annotations

from paddle._engine.checkpoint.parameter_config import HookConfig, ParameterConfig
from paddle._engine.protobuf import Field, Message

__all__ = [
    "EvaluatorConfig",
    "HookConfig",
    "LayerConfig",
    "LayerInputConfig",
    "ModelConfig",
    "ParameterConfig",
    "ProjectionConfig",
    "SubModelConfig",
]


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
        "proj_conf": Field(6, ProjectionConfig),
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
        "bias_size": Field(48, "uint64"),
        "height": Field(50, "uint64"),
        "width": Field(51, "uint64"),
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
