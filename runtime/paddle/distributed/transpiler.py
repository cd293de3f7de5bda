"""Transpilers' home since 2.5: ``paddle.distributed.transpiler`` is ``paddle.fluid.transpiler``."""

from paddle._aliases import alias

alias(__name__, "paddle.fluid.transpiler")
