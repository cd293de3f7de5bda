"""Clipping of gradients, and of what comes back through a variable."""

from paddle._program.writing.clip import (
    ErrorClipByValue,
    GradientClipBase,
    GradientClipByGlobalNorm,
    GradientClipByNorm,
    GradientClipByValue,
    append_gradient_clip_ops,
    set_gradient_clip,
)
from paddle.fluid._listed import lacking

__all__ = [
    "ErrorClipByValue",
    "GradientClipBase",
    "GradientClipByGlobalNorm",
    "GradientClipByNorm",
    "GradientClipByValue",
    "append_gradient_clip_ops",
    "set_gradient_clip",
]

ClipByValue, ClipByNorm, ClipByGlobalNorm = GradientClipByValue, GradientClipByNorm, GradientClipByGlobalNorm

__getattr__ = lacking(__name__)
