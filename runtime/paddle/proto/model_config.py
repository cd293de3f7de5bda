"""What a network is, as messages."""

from paddle.v2._config import (
    EvaluatorConfig,
    GeneratorConfig,
    LayerConfig,
    LayerInputConfig,
    LinkConfig,
    MemoryConfig,
    ModelConfig,
    OperatorConfig,
    ProjectionConfig,
    SubModelConfig,
)

__all__ = [
    "EvaluatorConfig",
    "GeneratorConfig",
    "LayerConfig",
    "LayerInputConfig",
    "LinkConfig",
    "MemoryConfig",
    "ModelConfig",
    "OperatorConfig",
    "ProjectionConfig",
    "SubModelConfig",
]
