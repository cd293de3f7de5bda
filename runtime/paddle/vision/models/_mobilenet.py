"""Networks of separable convolutions: MobileNets of Howard and others, 2017, and Sandler and others, 2018."""

from __future__ import annotations

from typing import Any

from paddle import nn
from paddle.vision.models._network import Headed, rounded, untrained
from paddle.vision.ops import ConvNormActivation

# Name, channels that come in and go out, and stride.
_SEPARABLE = (
    *(("conv2_1", 32, 64, 1), ("conv2_2", 64, 128, 2), ("conv3_1", 128, 128, 1), ("conv3_2", 128, 256, 2)),
    *(("conv4_1", 256, 256, 1), ("conv4_2", 256, 512, 2)),
    *((f"conv5_{number}", 512, 512, 1) for number in range(1, 6)),
    *(("conv5_6", 512, 1024, 2), ("conv6", 1024, 1024, 1)),
)
# Of a stage: by how much a block widens, channels, blocks, and the stride of the first.
_INVERTED = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)


class DepthwiseSeparable(nn.Layer):
    """A convolution of each channel, and one of all channels of a pixel."""

    def __init__(self, channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(channels, channels, 3, stride, 1, groups=channels)
        self._pointwise_conv = ConvNormActivation(channels, out_channels, 1, 1, 0)

    def forward(self, x: Any) -> Any:
        """Append both."""
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(Headed):
    """``scale``: of the usual number of channels."""

    head = "fc"

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.scale = scale
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2, 1)
        self.dwsl = [
            self.add_sublayer(name, DepthwiseSeparable(int(before * scale), int(after * scale), stride))
            for name, before, after, stride in _SEPARABLE
        ]
        self._end(nn.AdaptiveAvgPool2D(1), lambda: nn.Linear(int(1024 * scale), num_classes))

    def _body(self, x: Any) -> Any:
        x = self.conv1(x)
        for layer in self.dwsl:
            x = layer(x)
        return x


class InvertedResidual(nn.Layer):
    """A wider convolution of each channel between two of pixels; beside them what came in, where sizes are
    the same."""

    def __init__(
        self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Any = nn.BatchNorm2D
    ) -> None:
        super().__init__()
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        wide, told = round(inp * expand_ratio), {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        layers = [ConvNormActivation(inp, wide, 1, **told)] if expand_ratio != 1 else []
        layers.append(ConvNormActivation(wide, wide, stride=stride, groups=wide, **told))
        self.conv = nn.Sequential(*layers, nn.Conv2D(wide, oup, 1, 1, 0, bias_attr=False), norm_layer(oup))

    def forward(self, x: Any) -> Any:
        """Append the block."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Headed):
    """``scale``: of the usual number of channels."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        before, self.last_channel = rounded(32 * scale), rounded(1280 * max(1.0, scale))
        features: list[nn.Layer] = [ConvNormActivation(3, before, stride=2, activation_layer=nn.ReLU6)]
        for ratio, channels, blocks, stride in _INVERTED:
            after = rounded(channels * scale)
            for place in range(blocks):
                features.append(InvertedResidual(before, after, 1 if place else stride, ratio))
                before = after
        features.append(ConvNormActivation(before, self.last_channel, 1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*features)
        self._end(nn.AdaptiveAvgPool2D(1), self._classifier)

    def _classifier(self) -> nn.Layer:
        return nn.Sequential(nn.Dropout(0.2), nn.Linear(self.last_channel, self.num_classes))

    def _body(self, x: Any) -> Any:
        return self.features(x)


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """A MobileNetV1; ``kwargs`` are its own."""
    return untrained("mobilenet_v1", pretrained, MobileNetV1, scale=scale, **kwargs)


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """A MobileNetV2; ``kwargs`` are its own."""
    return untrained("mobilenet_v2", pretrained, MobileNetV2, scale=scale, **kwargs)
