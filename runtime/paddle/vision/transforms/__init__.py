"""What is made of pictures before a network sees them: ``paddle.vision.transforms``.

It must never hold code of its own. Guarantee: each name is the very object of its module. A picture is an
image of Pillow or an array (height, width, colours), and what is made of it is computed at once: arrays are
fed to programs.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._public_names import missing
from paddle.vision.transforms import functional
from paddle.vision.transforms.drawn import *  # noqa: F403  its names are these
from paddle.vision.transforms.drawn import __all__ as _drawn
from paddle.vision.transforms.functional import *  # noqa: F403
from paddle.vision.transforms.transforms import *  # noqa: F403
from paddle.vision.transforms.transforms import __all__ as _transforms

__all__ = [*_transforms, *_drawn, *functional.__all__]


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
