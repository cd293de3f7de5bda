"""Gradients, appended to a program."""

from paddle._program.writing.backward import append_backward, calc_gradient, gradients
from paddle.fluid._listed import lacking

__all__ = ["append_backward", "calc_gradient", "gradients"]

__getattr__ = lacking(__name__)
