"""``paddle.fluid.incubate.fleet.utils.utils``, by its name in 2.5 and 2.6."""

from paddle._aliases import alias

alias(__name__, "paddle.fluid.incubate.fleet.utils.utils")
