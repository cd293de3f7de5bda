"""What the original's layers import from each other: programs reach through it for
``paddle.common_ops_import.core.EOFException``.

It must never hold code of its own.
"""

from paddle._program.description.guards import default_main_program
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid import core

__all__ = ["LayerHelper", "Variable", "core", "default_main_program"]
