"""Networks of separable convolutions that weigh their channels: MobileNetV3 of Howard and others, 2019."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from paddle import nn
from paddle.vision.models._network import Headed, rounded, untrained
from paddle.vision.ops import ConvNormActivation


class Block(NamedTuple):
    """Channels that come in, the side of the window, channels within and going out, and if these are weighed,
    what bends them, and the stride."""

    before: int
    side: int
    wide: int
    after: int
    weighs: bool
    bent: Any
    stride: int


_R, _H = nn.ReLU, nn.Hardswish
_SMALL = (
    *(
        Block(16, 3, 16, 16, True, _R, 2),
        Block(16, 3, 72, 24, False, _R, 2),
        Block(24, 3, 88, 24, False, _R, 1),
    ),
    *(
        Block(24, 5, 96, 40, True, _H, 2),
        Block(40, 5, 240, 40, True, _H, 1),
        Block(40, 5, 240, 40, True, _H, 1),
    ),
    *(Block(40, 5, 120, 48, True, _H, 1), Block(48, 5, 144, 48, True, _H, 1)),
    *(
        Block(48, 5, 288, 96, True, _H, 2),
        Block(96, 5, 576, 96, True, _H, 1),
        Block(96, 5, 576, 96, True, _H, 1),
    ),
)
_LARGE = (
    *(
        Block(16, 3, 16, 16, False, _R, 1),
        Block(16, 3, 64, 24, False, _R, 2),
        Block(24, 3, 72, 24, False, _R, 1),
    ),
    *(
        Block(24, 5, 72, 40, True, _R, 2),
        Block(40, 5, 120, 40, True, _R, 1),
        Block(40, 5, 120, 40, True, _R, 1),
    ),
    *(Block(40, 3, 240, 80, False, _H, 2), Block(80, 3, 200, 80, False, _H, 1)),
    *(Block(80, 3, 184, 80, False, _H, 1), Block(80, 3, 184, 80, False, _H, 1)),
    *(Block(80, 3, 480, 112, True, _H, 1), Block(112, 3, 672, 112, True, _H, 1)),
    *(Block(112, 5, 672, 160, True, _H, 2), Block(160, 5, 960, 160, True, _H, 1)),
    Block(160, 5, 960, 160, True, _H, 1),
)
_NORM = partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
_Conv = partial(ConvNormActivation, norm_layer=_NORM)


class SqueezeExcitation(nn.Layer):
    """Each channel times a weight that the means of all channels say."""

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Any = nn.ReLU,
        scale_activation: Any = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Any) -> Any:
        """Append the weights and the product."""
        told = self.activation(self.fc1(self.avgpool(input)))
        return self.scale_activation(self.fc2(told)) * input


class InvertedResidual(nn.Layer):
    """A block, and beside it what came in, where sizes are the same."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        before, side, wide, after, weighs, bent, stride = block
        self.use_res_connect = stride == 1 and before == after
        self.use_se, self.expand = weighs, before != wide
        if self.expand:
            self.expand_conv = _Conv(before, wide, 1, 1, 0, activation_layer=bent)
        self.bottleneck_conv = _Conv(
            wide, wide, side, stride, (side - 1) // 2, groups=wide, activation_layer=bent
        )
        if weighs:
            self.mid_se = SqueezeExcitation(wide, rounded(wide // 4), scale_activation=nn.Hardsigmoid)
        self.linear_conv = _Conv(wide, after, 1, 1, 0, activation_layer=None)

    def forward(self, x: Any) -> Any:
        """Append the block."""
        out = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        out = self.linear_conv(self.mid_se(out) if self.use_se else out)
        return x + out if self.use_res_connect else out


class MobileNetV3(Headed):
    """``config``: its blocks, of ``scale`` of their channels; ``last_channel``: how wide the head is."""

    pool = "avgpool"

    def __init__(
        self,
        config: Sequence[Block],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__(num_classes, with_pool)
        self.scale, self.last_channel = scale, last_channel
        self.config = [_scaled(block, scale) for block in config]
        first, last = self.config[0].before, self.config[-1].before
        self.lastconv_out_channels = last * 6
        self.conv = _Conv(3, first, 3, 2, 1, activation_layer=nn.Hardswish)
        self.blocks = nn.Sequential(*(InvertedResidual(block) for block in self.config))
        self.lastconv = _Conv(last, self.lastconv_out_channels, 1, 1, 0, activation_layer=nn.Hardswish)
        self._end(nn.AdaptiveAvgPool2D(1), self._classifier)

    def _classifier(self) -> nn.Layer:
        first = nn.Linear(self.lastconv_out_channels, self.last_channel)
        return nn.Sequential(
            first, nn.Hardswish(), nn.Dropout(p=0.2), nn.Linear(self.last_channel, self.num_classes)
        )

    def _body(self, x: Any) -> Any:
        return self.lastconv(self.blocks(self.conv(x)))


def _scaled(block: Block, scale: float) -> Block:
    sizes = {name: rounded(getattr(block, name) * scale) for name in ("before", "wide", "after")}
    return block._replace(**sizes)


class MobileNetV3Small(MobileNetV3):
    """Eleven blocks."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, rounded(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """Fifteen blocks."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, rounded(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """A MobileNetV3Small; ``kwargs`` are its own."""
    return untrained("mobilenet_v3_small", pretrained, MobileNetV3Small, scale=scale, **kwargs)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """A MobileNetV3Large; ``kwargs`` are its own."""
    return untrained("mobilenet_v3_large", pretrained, MobileNetV3Large, scale=scale, **kwargs)
