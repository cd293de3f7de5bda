"""LayerHelper: what layers, one's own too, write programs with."""

from paddle._program.writing.layer_helper import LayerHelper

__all__ = ["LayerHelper"]
