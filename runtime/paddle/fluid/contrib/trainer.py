"""The name of ``fluid.trainer`` from 0.15 on.

It must never hold code of its own. Guarantee: each name is the very object of ``fluid.trainer``.
"""

from paddle.fluid.trainer import *  # noqa: F403  the same names
from paddle.fluid.trainer import __all__ as __all__
