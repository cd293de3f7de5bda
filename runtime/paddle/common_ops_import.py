"""What the original's layers import from each other: programs reach through it for
``paddle.common_ops_import.core.EOFException``.

It must never hold code of its own.
"""

from paddle._program.description.guards import default_main_program
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid import core
from paddle.fluid.data_feeder import check_dtype, check_type, check_variable_and_dtype, convert_dtype

__all__ = [
    "LayerHelper",
    "Variable",
    "check_dtype",
    "check_type",
    "check_variable_and_dtype",
    "convert_dtype",
    "core",
    "default_main_program",
]
