"""``paddle.v2.dataset`` is ``paddle.dataset``: the very same modules, so an assigned ``DATA_HOME`` counts."""

from paddle._aliases import alias

alias(__name__, "paddle.dataset")
