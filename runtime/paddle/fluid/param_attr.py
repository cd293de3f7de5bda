"""ParamAttr: how one parameter is called, begins and learns."""

from paddle._program.writing.param_attr import ParamAttr, WeightNormParamAttr

__all__ = ["ParamAttr", "WeightNormParamAttr"]
