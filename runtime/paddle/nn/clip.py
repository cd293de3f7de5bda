"""Bounds for gradients: ``paddle.nn.ClipGradByGlobalNorm`` and its family.

It must never hold code of its own. Guarantee: each is the class of the programs' room that the fluid
generation calls by its older name.
"""

from __future__ import annotations

from paddle._program.writing.clip import GradientClipByGlobalNorm as ClipGradByGlobalNorm
from paddle._program.writing.clip import GradientClipByNorm as ClipGradByNorm
from paddle._program.writing.clip import GradientClipByValue as ClipGradByValue

__all__ = ["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]
