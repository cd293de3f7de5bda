"""Messages by which programs of v2 write parameters and read networks: ``paddle.proto``.

They are those of ``paddle.parameters`` and of ``Topology.proto()``. Guarantee: their bytes are those of the
original.
"""

from paddle._aliases import offer
from paddle.proto.model_config import ModelConfig
from paddle.proto.parameter_config import ParameterConfig

offer("paddle.proto.ModelConfig_pb2", "paddle.proto.model_config")
offer("paddle.proto.ParameterConfig_pb2", "paddle.proto.parameter_config")
offer("paddle.proto.TrainerConfig_pb2", "paddle.proto.trainer_config")

__all__ = ["ModelConfig", "ParameterConfig"]
