"""``paddle.fluid.incubate.fleet.base.role_maker``, by its name in 2.5 and 2.6."""

from paddle._aliases import alias

alias(__name__, "paddle.fluid.incubate.fleet.base.role_maker")
