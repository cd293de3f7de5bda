"""``paddle.v2.fluid`` is ``paddle.fluid``: programs of 0.11 and 0.12 know it by this name."""

from paddle._aliases import alias

alias(__name__, "paddle.fluid")
