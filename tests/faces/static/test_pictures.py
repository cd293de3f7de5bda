"""Networks of pictures: layers, their names and what they give are those of 2.6.2."""

from __future__ import annotations

from functools import reduce
from hashlib import md5
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import paddle
from paddle._absent import NotInThisRelease

pytestmark = pytest.mark.usefixtures("alone")

models, static = paddle.vision.models, paddle.static


@pytest.mark.parametrize(
    ("name", "count", "digest"),  # of all names and shapes of the wheel's
    [
        ("LeNet", 10, 925365909),
        ("resnet18", 102, 2718426909),
        ("resnet34", 182, 2786884832),
        ("resnet50", 267, 2030467441),
        ("resnet101", 522, 717019693),
        ("resnet152", 777, 404921414),
        ("resnext50_32x4d", 267, 1442363649),
        ("resnext50_64x4d", 267, 2434352618),
        ("resnext101_32x4d", 522, 2060250784),
        ("resnext101_64x4d", 522, 2009179102),
        ("resnext152_32x4d", 777, 2137775630),
        ("resnext152_64x4d", 777, 890189752),
        ("wide_resnet50_2", 267, 4203771524),
        ("wide_resnet101_2", 522, 146478757),
        ("vgg11", 22, 3511175567),
        ("vgg13", 26, 2684200778),
        ("vgg16", 32, 3609816681),
        ("vgg19", 38, 3360243454),
        ("mobilenet_v1", 137, 3282102414),
        ("mobilenet_v2", 262, 2689814813),
        ("mobilenet_v3_small", 210, 1544599256),
        ("mobilenet_v3_large", 266, 797463605),
    ],
)
def test_parameters_have_the_names_and_shapes_of_the_wheel(name: str, count: int, digest: int) -> None:
    with paddle.utils.unique_name.guard():
        network = getattr(models, name)()
    told = [(key, each.name, tuple(each.shape)) for key, each in network.state_dict().items()]
    assert (len(told), crc32(repr(told).encode())) == (count, digest)
    assert len(network.parameters()) == count


def _values(name: str, shape: Any) -> np.ndarray:
    drawn = np.random.RandomState(crc32(name.encode()) % 65536).randn(*shape).astype("float32")
    if len(shape) == 4:
        return drawn * np.sqrt(2 / prod(shape[1:]))
    return np.abs(drawn * 0.1) + 1 if name.endswith(".w_2") else drawn * 0.1


@pytest.mark.parametrize(
    ("name", "told", "given"),  # of the wheel
    [
        ("resnet18", {"num_classes": 3}, [0.35345, 0.108628, 0.200976]),
        ("resnext50_32x4d", {"num_classes": 3}, [0.281837, 1.195759, -0.917558]),
        ("mobilenet_v1", {"scale": 0.25, "num_classes": 3}, [-0.001614, -0.044862, -0.235817]),
        ("mobilenet_v2", {"scale": 0.5, "num_classes": 3}, [0.33435, -0.527925, -0.361452]),
        ("mobilenet_v3_small", {"scale": 0.5, "num_classes": 3}, [-0.154057, -0.056532, 0.209673]),
        ("vgg11", {"num_classes": 0, "with_pool": False}, [2.937161, 2.611143, 3.943567]),
        ("vgg11", {"num_classes": 0, "with_pool": False, "batch_norm": True}, [0.133173, 0.0, 0.03964]),
    ],
)
def test_images_give_what_the_wheel_gives(name: str, told: dict[str, Any], given: list[float]) -> None:
    with paddle.utils.unique_name.guard():
        network = getattr(models, name)(**told)
        network.eval()
        found = network(static.data("x", [1, 3, 32, 32]))
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for each in static.default_main_program().all_parameters():
        held = static.global_scope().find_var(each.name).get_tensor()
        held.set(_values(each.name, each.shape), paddle.CPUPlace())
    image = np.random.RandomState(0).randn(1, 3, 32, 32).astype("float32")
    (rows,) = exe.run(feed={"x": image}, fetch_list=[found])
    assert rows.reshape(-1)[:3] == pytest.approx(given, abs=1e-5)


MODULES = """
    vision.datasets.cifar.Cifar10 vision.datasets.cifar.Cifar100
    vision.datasets.mnist.MNIST vision.datasets.mnist.FashionMNIST
    vision.models.lenet.LeNet vision.models.resnet.ResNet vision.models.resnet.resnet50
    vision.models.mobilenetv1.MobileNetV1 vision.models.mobilenetv2.MobileNetV2
    vision.models.mobilenetv3.MobileNetV3Small vision.models.vgg.VGG
"""


@pytest.mark.parametrize("name", MODULES.split())
def test_names_are_in_the_modules_of_the_wheel(name: str) -> None:
    module, _, leaf = name.rpartition(".")
    found = getattr(import_module(f"paddle.{module}"), leaf)
    assert found is reduce(getattr, name.split("."), paddle)
    assert found is getattr(import_module(f"paddle.{module.rpartition('.')[0]}"), leaf)


def test_networks_are_built_of_the_blocks_of_resnet() -> None:
    blocks = import_module("paddle.vision.models.resnet")
    assert (blocks.BasicBlock.expansion, blocks.BottleneckBlock.expansion) == (1, 4)
    assert blocks.ResNet(blocks.BasicBlock, 18, num_classes=3).fc.weight.shape == (512, 3)


def test_files_of_weights_that_are_there_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paddle.utils import download

    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path))
    url = "https://weights.invalid/of/net.pdparams"
    (tmp_path / "net.pdparams").write_bytes(b"weights")
    assert download.get_weights_path_from_url(url) == str(tmp_path / "net.pdparams")
    assert download.get_weights_path_from_url(url, md5(b"weights").hexdigest()) == str(
        tmp_path / "net.pdparams"
    )
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    with pytest.raises(RuntimeError, match=r"other\.pdparams \(md5 not said\)"):
        download.get_weights_path_from_url("https://weights.invalid/of/other.pdparams")
    assert (download.is_url(url), download.is_url("net.pdparams")) == (True, False)


def test_trained_weights_are_refused_by_name() -> None:
    with pytest.raises(NotInThisRelease, match=r"resnet18\(pretrained=True\).*set_state_dict"):
        models.resnet18(pretrained=True)


def test_operators_of_pictures_are_imported_by_name() -> None:
    from paddle.vision.ops import ConvNormActivation

    assert ConvNormActivation is paddle.vision.ops.ConvNormActivation
    with pytest.raises(AttributeError, match=r"paddle\.vision\.ops\.decode_jpeg is not in this release"):
        _ = paddle.vision.ops.decode_jpeg
    with pytest.raises(AttributeError, match="does not exist"):
        _ = paddle.vision.ops.other
