"""The recurrent layers that fluid had under ``contrib``, by the module that programs name."""

from paddle.fluid._listed import lacking
from paddle.fluid.contrib.layers.stacks import basic_gru, basic_lstm
from paddle.fluid.contrib.layers.units import BasicGRUUnit, BasicLSTMUnit

__all__ = ["BasicGRUUnit", "BasicLSTMUnit", "basic_gru", "basic_lstm"]

__getattr__ = lacking("paddle.fluid.contrib.layers")
