"""Deep stacks of small convolutions, of Simonyan and Zisserman, 2014."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle import nn
from paddle.vision.models._network import Headed, untrained

_STAGES = (64, 128, 256, 512, 512)
_DEPTHS = {
    "vgg11": (1, 1, 2, 2, 2),
    "vgg13": (2, 2, 2, 2, 2),
    "vgg16": (2, 2, 3, 3, 3),
    "vgg19": (2, 2, 4, 4, 4),
}


class VGG(Headed):
    """``features``, and three matrices behind them."""

    pool = "avgpool"

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.features = features
        self._end(nn.AdaptiveAvgPool2D((7, 7)), self._classifier)

    def _classifier(self) -> nn.Layer:
        return nn.Sequential(
            *(nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout()),
            *(nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout()),
            nn.Linear(4096, self.num_classes),
        )

    def _body(self, x: Any) -> Any:
        return self.features(x)


def _features(depths: tuple[int, ...], batch_norm: bool) -> nn.Layer:
    layers: list[nn.Layer] = []
    before = 3
    for channels, depth in zip(_STAGES, depths, strict=True):
        for _ in range(depth):
            layers.append(nn.Conv2D(before, channels, kernel_size=3, padding=1))
            layers += [nn.BatchNorm2D(channels)] if batch_norm else []
            layers.append(nn.ReLU())
            before = channels
        layers.append(nn.MaxPool2D(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


def _of(name: str) -> Callable[..., VGG]:
    def made(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
        return untrained(name, pretrained, VGG, _features(_DEPTHS[name], batch_norm), **kwargs)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A VGG of {name[3:]} layers, with batch norms or without; ``kwargs`` are its own."
    return made


vgg11, vgg13, vgg16, vgg19 = (_of(name) for name in _DEPTHS)
