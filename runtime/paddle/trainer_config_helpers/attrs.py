"""v2's attributes by v1's names."""

from paddle.v2.attr import Extra as ExtraAttr
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.attr import Hook as HookAttr
from paddle.v2.attr import Param as ParamAttr

__all__ = ["ExtraAttr", "ExtraLayerAttribute", "HookAttr", "ParamAttr", "ParameterAttribute"]
