"""``paddle.v2.reader`` is ``paddle.reader``: the very same modules."""

from paddle._aliases import alias

alias(__name__, "paddle.reader")
