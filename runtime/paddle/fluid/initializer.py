"""Initializers: the first value of a parameter."""

from contextlib import AbstractContextManager, nullcontext

from paddle._program.writing.initializer import (
    MSRA,
    Bilinear,
    BilinearInitializer,
    Constant,
    ConstantInitializer,
    Initializer,
    MSRAInitializer,
    Normal,
    NormalInitializer,
    NumpyArrayInitializer,
    TruncatedNormal,
    TruncatedNormalInitializer,
    Uniform,
    UniformInitializer,
    Xavier,
    XavierInitializer,
    set_global_initializer,
)
from paddle.fluid._listed import lacking

__all__ = [
    "MSRA",
    "Bilinear",
    "BilinearInitializer",
    "Constant",
    "ConstantInitializer",
    "Initializer",
    "MSRAInitializer",
    "Normal",
    "NormalInitializer",
    "NumpyArrayInitializer",
    "TruncatedNormal",
    "TruncatedNormalInitializer",
    "Uniform",
    "UniformInitializer",
    "Xavier",
    "XavierInitializer",
    "force_init_on_cpu",
    "init_on_cpu",
    "set_global_initializer",
]


def init_on_cpu() -> AbstractContextManager[None]:
    """First values are made on the CPU within the block, as everywhere."""
    return nullcontext()


def force_init_on_cpu() -> bool:
    """Whether first values are to be made on the CPU, which is all that there is."""
    return False


__getattr__ = lacking(__name__)
