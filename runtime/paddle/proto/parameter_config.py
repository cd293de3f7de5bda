"""What a parameter is, as a message."""

from paddle.v2._config import HookConfig as ParameterUpdaterHookConfig
from paddle.v2._config import ParameterConfig

__all__ = ["ParameterConfig", "ParameterUpdaterHookConfig"]
