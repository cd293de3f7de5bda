"""What networks of pictures have in common: a body, a pool, and a head that says classes.

It must never know a body. Guarantee: a network whose weights somebody else has trained is refused by name.
"""

from __future__ import annotations

from typing import Any, TypeVar

from paddle import nn
from paddle._absent import NotInThisRelease
from paddle.tensor.manipulation import flatten

_Network = TypeVar("_Network", bound=nn.Layer)


def untrained(name: str, pretrained: bool, network: type[_Network], *args: Any, **kwargs: Any) -> _Network:
    """A network that begins as its initializers say."""
    if pretrained:
        raise NotInThisRelease(
            f"{name}(pretrained=True): trained weights are not in this release. Call {name}(), and "
            "set_state_dict(paddle.load(path)) with a file that has them"
        )
    return network(*args, **kwargs)


class Headed(nn.Layer):
    """``pool`` and ``head`` name the attributes that a pool and a head have; there is none of them without
    ``with_pool``, and where ``num_classes`` is 0 or less."""

    pool, head = "pool2d_avg", "classifier"

    def __init__(self, num_classes: int, with_pool: bool) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool

    def _end(self, pool: nn.Layer, head: Any) -> None:
        """What comes behind the body; ``head`` is made only where there are classes."""
        if self.with_pool:
            setattr(self, self.pool, pool)
        if self.num_classes > 0:
            setattr(self, self.head, head())

    def _body(self, x: Any) -> Any:
        raise NotImplementedError

    def forward(self, x: Any) -> Any:
        """What it makes of images (n, 3, height, width): a row of ``num_classes`` for each."""
        x = self._body(x)
        if self.with_pool:
            x = getattr(self, self.pool)(x)
        return getattr(self, self.head)(flatten(x, 1)) if self.num_classes > 0 else x


def rounded(channels: float, divisor: int = 8) -> int:
    """The multiple of ``divisor`` that is nearest, but never less than nine tenths of ``channels``."""
    nearest = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * channels else nearest
