"""ParamAttr: how one parameter is called, begins and learns."""

from paddle._program.param_attr import ParamAttr, WeightNormParamAttr

__all__ = ["ParamAttr", "WeightNormParamAttr"]
