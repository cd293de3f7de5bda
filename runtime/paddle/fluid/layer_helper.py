"""LayerHelper: what layers, one's own too, write programs with."""

from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.framework import in_dygraph_mode

__all__ = ["LayerHelper", "in_dygraph_mode"]
