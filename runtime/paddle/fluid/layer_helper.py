"""LayerHelper: what layers, one's own too, write programs with."""

from paddle._program.layer_helper import LayerHelper

__all__ = ["LayerHelper"]
