"""Gradients, appended to a program."""

from paddle._program.backward import append_backward, calc_gradient, gradients

__all__ = ["append_backward", "calc_gradient", "gradients"]
