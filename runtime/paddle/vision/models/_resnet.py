"""Residual networks, of He and others, 2015; those with groups (ResNeXt) and with wider blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from paddle import nn
from paddle.vision.models._network import Headed, untrained

_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class BasicBlock(nn.Layer):
    """Two convolutions, and beside them what came in, through ``downsample`` where sizes differ."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        if dilation > 1:
            raise NotImplementedError(
                f"a BasicBlock has a dilation of 1, not {dilation}: take BottleneckBlock"
            )
        norm = norm_layer or nn.BatchNorm2D
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        """Append the block."""
        beside = x if self.downsample is None else self.downsample(x)
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + beside)


class BottleneckBlock(nn.Layer):
    """Three convolutions, the middle one narrower, and beside them what came in."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        width, wide = int(planes * base_width / 64.0) * groups, planes * self.expansion
        middle = {"stride": stride, "padding": dilation, "dilation": dilation, "groups": groups}
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2D(width, width, 3, bias_attr=False, **middle)
        self.bn2 = norm(width)
        self.conv3 = nn.Conv2D(width, wide, 1, bias_attr=False)
        self.bn3 = norm(wide)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        """Append the block."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(Headed):
    """Four stages of blocks. ``block``: BasicBlock or BottleneckBlock; ``depth``: 18, 34, 50, 101 or 152;
    ``width``: of a group of the middle convolutions, where 64 is the usual one."""

    pool, head = "avgpool", "fc"

    def __init__(
        self,
        block: Any,
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__(num_classes, with_pool)
        self.groups, self.base_width, self.inplanes = groups, width, 64
        self.conv1 = nn.Conv2D(3, 64, 7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        for stage, blocks in enumerate(_DEPTHS[depth]):
            made = self._make_layer(block, 64 << stage, blocks, 1 if stage == 0 else 2)
            setattr(self, f"layer{stage + 1}", made)
        self._end(nn.AdaptiveAvgPool2D((1, 1)), lambda: nn.Linear(512 * block.expansion, num_classes))

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1) -> nn.Layer:
        """A stage, whose first block narrows the image by ``stride``."""
        wide, downsample = planes * block.expansion, None
        if stride != 1 or self.inplanes != wide:
            narrowing = nn.Conv2D(self.inplanes, wide, 1, stride=stride, bias_attr=False)
            downsample = nn.Sequential(narrowing, nn.BatchNorm2D(wide))
        told = {"groups": self.groups, "base_width": self.base_width}
        layers = [block(self.inplanes, planes, stride, downsample, **told)]
        self.inplanes = wide
        layers += [block(wide, planes, **told) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def _body(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))


def _of(name: str, block: Any, depth: int, **told: int) -> Callable[..., ResNet]:
    def made(pretrained: bool = False, **kwargs: Any) -> ResNet:
        return untrained(name, pretrained, ResNet, block, depth, **{**kwargs, **told})

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A ResNet of {depth} layers; ``kwargs`` are its own."
    return made


_deep = partial(_of, block=BottleneckBlock)

resnet18 = _of("resnet18", BasicBlock, 18)
resnet34 = _of("resnet34", BasicBlock, 34)
resnet50 = _deep("resnet50", depth=50)
resnet101 = _deep("resnet101", depth=101)
resnet152 = _deep("resnet152", depth=152)
resnext50_32x4d = _deep("resnext50_32x4d", depth=50, groups=32, width=4)
resnext50_64x4d = _deep("resnext50_64x4d", depth=50, groups=64, width=4)
resnext101_32x4d = _deep("resnext101_32x4d", depth=101, groups=32, width=4)
resnext101_64x4d = _deep("resnext101_64x4d", depth=101, groups=64, width=4)
resnext152_32x4d = _deep("resnext152_32x4d", depth=152, groups=32, width=4)
resnext152_64x4d = _deep("resnext152_64x4d", depth=152, groups=64, width=4)
wide_resnet50_2 = _deep("wide_resnet50_2", depth=50, width=128)
wide_resnet101_2 = _deep("wide_resnet101_2", depth=101, width=128)
