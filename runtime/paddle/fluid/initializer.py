"""Initializers: the first value of a parameter."""

from paddle._program.initializer import (
    Constant,
    ConstantInitializer,
    Initializer,
    Normal,
    NormalInitializer,
    Uniform,
    UniformInitializer,
    Xavier,
    XavierInitializer,
    set_global_initializer,
)
from paddle.fluid._listed import lacking

__all__ = [
    "Constant",
    "ConstantInitializer",
    "Initializer",
    "Normal",
    "NormalInitializer",
    "Uniform",
    "UniformInitializer",
    "Xavier",
    "XavierInitializer",
    "set_global_initializer",
]

__getattr__ = lacking(__name__)
