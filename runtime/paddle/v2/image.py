"""``paddle.v2.image`` is ``paddle.dataset.image``: the very same module, where fluid programs look for it."""

from paddle._aliases import alias

alias(__name__, "paddle.dataset.image")
