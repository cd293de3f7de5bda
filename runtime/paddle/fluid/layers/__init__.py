"""Layers: functions that append operators to the program that is being written.

Each family lies in a file of its own, whose list says which names are seen here.
"""

from paddle.fluid._listed import lacking
from paddle.fluid.layers import (
    beams,
    classes,
    control_flow,
    learning_rate_scheduler,
    reading,
    recurrent,
    rnn,
    sequence_lod,
    tagging,
)
from paddle.fluid.layers.beams import *  # noqa: F403
from paddle.fluid.layers.classes import *  # noqa: F403
from paddle.fluid.layers.control_flow import *  # noqa: F403
from paddle.fluid.layers.io import data
from paddle.fluid.layers.learning_rate_scheduler import *  # noqa: F403
from paddle.fluid.layers.nn import fc, mean, square_error_cost
from paddle.fluid.layers.reading import *  # noqa: F403
from paddle.fluid.layers.recurrent import *  # noqa: F403
from paddle.fluid.layers.rnn import *  # noqa: F403
from paddle.fluid.layers.sequence_lod import *  # noqa: F403
from paddle.fluid.layers.tagging import *  # noqa: F403

__all__ = ["data", "fc", "mean", "square_error_cost"]
__all__ += [*beams.__all__, *classes.__all__, *reading.__all__, *recurrent.__all__]
__all__ += [*sequence_lod.__all__, *tagging.__all__]
__all__ += [*learning_rate_scheduler.__all__, *control_flow.__all__, *rnn.__all__]

__getattr__ = lacking(__name__)
