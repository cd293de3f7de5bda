"""What layers say of themselves, each as 2.6.2 prints it, and what networks of cells call what they save."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle import nn

pytestmark = pytest.mark.usefixtures("alone")

TEXTS: dict[str, Callable[[], Any]] = {
    "Linear(in_features=3, out_features=4, dtype=float32, name=q)": lambda: nn.Linear(3, 4, name="q"),
    "Conv2D(3, 4, kernel_size=[3, 3], stride=[2, 2], padding=1, padding_mode=reflect, dilation=[2, 2], "
    "data_format=NCHW)": lambda: nn.Conv2D(3, 4, 3, 2, 1, dilation=2, padding_mode="reflect"),
    "Conv2D(3, 4, kernel_size=[3, 2], stride=[1, 2], padding=SAME, data_format=NCHW)": lambda: nn.Conv2D(
        3, 4, (3, 2), stride=[1, 2], padding="SAME"
    ),
    "Conv1D(3, 4, kernel_size=[3], data_format=NCL)": lambda: nn.Conv1D(3, 4, 3),
    "Conv2DTranspose(3, 4, kernel_size=[3, 3], stride=[2, 2], output_padding=1, data_format=NCHW)": (
        lambda: nn.Conv2DTranspose(3, 4, 3, 2, output_padding=1)
    ),
    "BatchNorm1D(num_features=3, momentum=0.9, epsilon=1e-05, data_format=NCL)": lambda: nn.BatchNorm1D(3),
    "BatchNorm2D(num_features=3, momentum=0.9, epsilon=1e-05)": lambda: nn.BatchNorm2D(3),
    "BatchNorm()": lambda: nn.BatchNorm(3),
    "LayerNorm(normalized_shape=[3, 4], epsilon=1e-06)": lambda: nn.LayerNorm([3, 4], 1e-6),
    "GroupNorm(num_groups=2, num_channels=4, epsilon=1e-05)": lambda: nn.GroupNorm(2, 4),
    "InstanceNorm2D(num_features=4, epsilon=1e-05)": lambda: nn.InstanceNorm2D(4),
    "LocalResponseNorm(size=5, alpha=0.0001, beta=0.75, k=1.0)": lambda: nn.LocalResponseNorm(5),
    "Embedding(10, 4, padding_idx=-1, sparse=False)": lambda: nn.Embedding(10, 4, padding_idx=-1),
    "Dropout2D(p=0.5, data_format=NCHW)": lambda: nn.Dropout2D(),
    "Dropout3D(p=0.1, data_format=NCDHW)": lambda: nn.Dropout3D(0.1),
    "AlphaDropout(p=0.5)": lambda: nn.AlphaDropout(),
    "RReLU(lower=0.125, upper=0.3333333333333333, training=True, dtype=float32)": lambda: nn.RReLU(),
    "PReLU(num_parameters=3, data_format=NCHW, init=0.1, dtype=float32)": lambda: nn.PReLU(3, 0.1),
    "GELU(approximate=True)": lambda: nn.GELU(True),
    "Hardtanh(min=-1.0, max=1.0)": lambda: nn.Hardtanh(),
    "Softplus(beta=1, threshold=20)": lambda: nn.Softplus(),
    "MaxPool2D(kernel_size=2, stride=2, padding=1)": lambda: nn.MaxPool2D(2, 2, 1),
    "AvgPool1D(kernel_size=2, stride=None, padding=0)": lambda: nn.AvgPool1D(2),
    "AdaptiveAvgPool2D(output_size=1)": lambda: nn.AdaptiveAvgPool2D(1),
    "AdaptiveMaxPool2D(output_size=(2, 2), return_mask=False)": lambda: nn.AdaptiveMaxPool2D((2, 2)),
    "MaxUnPool2D(output_size=None)": lambda: nn.MaxUnPool2D(2),
    "Pad1D(padding=[1, 2], mode=reflect, value=0.0, data_format=NCL)": lambda: nn.Pad1D([1, 2], "reflect"),
    "ZeroPad2D(padding=[1, 1, 1, 1], data_format=NCHW)": lambda: nn.ZeroPad2D(1),
    "Upsample(scale_factor=2, mode=nearest, align_corners=False, align_mode=0, data_format=NCHW)": (
        lambda: nn.Upsample(scale_factor=2)
    ),
    "UpsamplingNearest2D(size=[3, 3], data_format=NCHW)": lambda: nn.UpsamplingNearest2D([3, 3]),
    "PixelShuffle(upscale_factor=2)": lambda: nn.PixelShuffle(2),
    "Fold(kernel_size=2, dilation=1, padding=0, stride=1)": lambda: nn.Fold([4, 4], 2),
    "Unflatten(axis=1, shape=[2, 2])": lambda: nn.Unflatten(1, [2, 2]),
    "Bilinear(in1_features=3, in2_features=4, out_features=5, dtype=float32)": lambda: nn.Bilinear(3, 4, 5),
    "CosineSimilarity(axis=1, eps=1e-08)": lambda: nn.CosineSimilarity(),
    "PairwiseDistance(p=2.0)": lambda: nn.PairwiseDistance(),
    "SimpleRNNCell(3, 4, activation=relu)": lambda: nn.SimpleRNNCell(3, 4, "relu"),
    "GRU(3, 4\n  (0): RNN(\n    (cell): GRUCell(3, 4)\n  )\n)": lambda: nn.GRU(3, 4),
    "LSTM(3, 4, dropout=0.1\n  (0): BiRNN(\n    (cell_fw): LSTMCell(3, 4)\n"
    "    (cell_bw): LSTMCell(3, 4)\n  )\n)": (lambda: nn.LSTM(3, 4, direction="bidirect", dropout=0.1)),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_layer_says_what_it_is(text: str) -> None:
    assert repr(TEXTS[text]()) == text


def test_layers_of_a_layer_lie_under_what_it_says_itself() -> None:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 4)

        def extra_repr(self) -> str:
            return "k=1"

    assert repr(Net()) == "Net(k=1\n  (fc): Linear(in_features=3, out_features=4, dtype=float32)\n)"


def test_what_a_network_of_cells_saves_is_called_as_by_2_6() -> None:
    network = nn.GRU(3, 4, direction="bidirect")
    ways = [
        f"{part}_l0{way}"
        for way in ("", "_reverse")
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    assert [name for name, _ in network.named_parameters()] == ways
    cells = [
        f"0.{cell}.{part}"
        for cell in ("cell_fw", "cell_bw")
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    assert list(network.state_dict()) == [*ways, *cells]
    assert network.weight_hh_l0_reverse is network[0].cell_bw.weight_hh
    assert [name for name, _ in network.named_sublayers()] == ["0", "0.cell_fw", "0.cell_bw"]
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    given = {name: np.full(each.shape, 0.5, "float32") for name, each in network.state_dict().items()}
    assert network.set_state_dict({**given, "more": given[ways[0]]}) == ([], ["more"])
