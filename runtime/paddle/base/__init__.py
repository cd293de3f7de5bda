"""``paddle.base`` is ``paddle.fluid``: programs of 2.5 and 2.6 know it by this name."""

from paddle._aliases import alias

alias(__name__, "paddle.fluid")
