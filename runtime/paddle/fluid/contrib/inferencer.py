"""The name of ``fluid.inferencer`` from 0.15 on.

It must never hold code of its own. Guarantee: each name is the very object of ``fluid.inferencer``.
"""

from paddle.fluid.inferencer import *  # noqa: F403  the same names
from paddle.fluid.inferencer import __all__ as __all__
