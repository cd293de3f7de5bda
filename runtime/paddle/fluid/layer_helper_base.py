"""LayerHelperBase: of what layers write programs with, the part that upstream shared with eager ones."""

from paddle._program.writing.layer_helper import LayerHelper

__all__ = ["LayerHelperBase"]

LayerHelperBase = LayerHelper
