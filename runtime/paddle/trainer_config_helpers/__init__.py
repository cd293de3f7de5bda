"""The names by which configuration files of v1 write networks, for programs of v2 that take some of them.

They are v2's layers, activations, poolings, attributes, networks, optimizers and evaluators, nothing else.
``paddle train --config`` itself is not there: what a configuration file says of a training (``settings``,
``outputs``, data providers), a program of v2 says to ``paddle.trainer.SGD``.
"""

from paddle.trainer_config_helpers import layer_math as layer_math
from paddle.trainer_config_helpers.activations import *  # noqa: F403
from paddle.trainer_config_helpers.attrs import *  # noqa: F403
from paddle.trainer_config_helpers.data_sources import *  # noqa: F403
from paddle.trainer_config_helpers.evaluators import *  # noqa: F403
from paddle.trainer_config_helpers.layers import *  # noqa: F403
from paddle.trainer_config_helpers.networks import *  # noqa: F403
from paddle.trainer_config_helpers.optimizers import *  # noqa: F403
from paddle.trainer_config_helpers.parsing import *  # noqa: F403
from paddle.trainer_config_helpers.poolings import *  # noqa: F403
