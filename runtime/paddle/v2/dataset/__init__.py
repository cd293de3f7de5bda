"""``paddle.v2.dataset`` is ``paddle.dataset``: the very same modules, so an assigned ``DATA_HOME`` counts."""

import sys

from paddle import dataset as _dataset
from paddle.dataset import *  # noqa: F403
from paddle.dataset import __all__

for _name in __all__:
    sys.modules[f"{__name__}.{_name}"] = getattr(_dataset, _name)

__getattr__ = _dataset.__getattr__
