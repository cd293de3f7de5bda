"""``paddle.v2.reader`` is ``paddle.reader``: the very same modules."""

import sys

from paddle.reader import *  # noqa: F403
from paddle.reader import __all__ as __all__
from paddle.reader import creator, decorator

sys.modules[f"{__name__}.creator"] = creator
sys.modules[f"{__name__}.decorator"] = decorator
