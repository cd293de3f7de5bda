"""Networks of pictures that programs take ready made: ``paddle.vision.models``.

Importing it loads nothing: a name is looked up when it is first used. It must never know a data set.
Guarantee: layers, their order and their names are those of the original, so that what is trained in one goes
into the other by ``state_dict``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._aliases import offer
from paddle._public_names import missing

_HOMES = {
    "lenet": "LeNet",
    "mobilenet": "MobileNetV1 MobileNetV2 mobilenet_v1 mobilenet_v2",
    "mobilenet_v3": "MobileNetV3Large MobileNetV3Small mobilenet_v3_large mobilenet_v3_small",
    "resnet": """
        ResNet resnet101 resnet152 resnet18 resnet34 resnet50 resnext101_32x4d resnext101_64x4d
        resnext152_32x4d resnext152_64x4d resnext50_32x4d resnext50_64x4d wide_resnet101_2 wide_resnet50_2
    """,
    "vgg": "VGG vgg11 vgg13 vgg16 vgg19",
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names.split()}

_MODULES = {
    **{name: f"_{name}" for name in ("lenet", "resnet", "vgg")},
    "mobilenetv1": "_mobilenet",
    "mobilenetv2": "_mobilenet",
    "mobilenetv3": "_mobilenet_v3",
}
"""Those of upstream's, in which programs find blocks to build their own networks of."""
for _name, _home in _MODULES.items():
    offer(f"{__name__}.{_name}", f"{__name__}.{_home}")

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _NAMES:
        raise missing(__name__, name)
    value = globals()[name] = getattr(import_module(f"paddle.vision.models._{_NAMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
