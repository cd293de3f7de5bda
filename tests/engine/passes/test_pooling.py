"""A maximum is found before what keeps the order of numbers is done to them, where nobody else wants that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.passes import Improved, improve, prune
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Variable
from paddle._engine.scope import Scope

X = np.random.default_rng(3).normal(size=(5, 2, 9, 8)).astype(np.float32)
ALL = ["w@GRAD", "c@GRAD"]


class Layer:
    """The greatest of relu(filters over images + bias), summed up with weights.

    ``flat``: as in v2, where layers hand rows on.
    """

    def __init__(self, bias: tuple[int, ...] = (3, 1, 1), flat: bool = False, **moving: Any) -> None:
        self.b = Builder()
        op, w = self.b.op, self.b.parameter("w", (3, 2, 3, 3), Normal())
        seen = op("conv2d", X=self.b.data("x", (-1, 2, 9, 8)), Filter=w)
        self.biased = op("elementwise_add", X=seen, Y=self.b.parameter("c", bias, Normal()))
        rows = op("reshape", {"shape": (-1, 126)}, X=self.biased) if flat else self.biased
        self.relu = op("relu", X=rows)
        images = op("reshape", {"shape": (-1, 3, 7, 6)}, X=self.relu) if flat else self.relu
        attrs = {"ksize": (2, 2), "strides": (2, 2), **moving}
        found = self.b.ops("max_pool2d", attrs, X=images)
        self.out, self.places = found["Out"], found["Places"]
        self.loss = op("reduce_sum", X=op("square", X=self.out))

    def trained(self) -> Layer:
        append_backward(self.b.program, self.loss)
        return self

    def types(self, *keep: Variable | str) -> list[str]:
        names = frozenset(each if isinstance(each, str) else each.name for each in keep)
        main = self.b.program.main
        return [each.type for each in improve(main.operators, Setting(names, main.variables)).operators]

    def run(self, *fetch: Variable | str) -> list[np.ndarray]:
        scope = Scope()
        initialize(self.b.program, scope, 0)
        return Executor(scope).run(self.b.program, {"x": X}, fetch)


def apart(layer: Layer, *fetch: Variable | str, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    with monkeypatch.context() as patch:
        patch.setattr(
            "paddle._engine.plan.improve",
            lambda operators, setting: Improved(prune(operators, setting.keep)),
        )
        return layer.run(*fetch)


MOVED = ["conv2d", "max_pool2d", "elementwise_add", "relu"]
BACK = ["relu_grad", "elementwise_add_grad", "max_pool2d_grad", "conv2d_grad"]


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("bias", [(3, 1, 1), (1, 3, 1, 1)])
def test_a_bias_and_relu_go_behind_forward_and_backward(bias: tuple[int, ...], flat: bool) -> None:
    types = Layer(bias, flat).trained().types(*ALL)
    assert types[:4] == MOVED
    assert types[-4:] == BACK


@pytest.mark.parametrize(
    "moving",
    [
        {},
        {"paddings": (1, 1)},
        {"ksize": (3, 3)},
        {"ksize": (0, 0)},
        {"strides": (3, 1)},
        {"ceil_mode": True},
        {"ceil_mode": True, "ksize": (3, 4)},
    ],
)
@pytest.mark.parametrize("flat", [False, True])
def test_results_are_those_of_the_program(
    moving: dict[str, Any], flat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = Layer(flat=flat, **moving).trained()
    fetch = (layer.out, layer.loss, *ALL)
    (out, loss, *found), plain = layer.run(*fetch), apart(layer, *fetch, monkeypatch=monkeypatch)
    assert layer.types(*fetch)[:4] == MOVED
    assert out.tobytes() == plain[0].tobytes() and loss == plain[1]
    for gradient, expected in zip(found, plain[2:], strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5 * abs(expected).max())


def test_in_a_test_too() -> None:
    layer = Layer()
    assert layer.types(layer.out) == MOVED


def test_relu_goes_behind_where_what_is_added_is_no_bias_of_channels() -> None:
    for other in ((1,), (3, 7, 6), (7, 1), (3, 7, 1)):
        layer = Layer(other)
        assert layer.types(layer.out) == ["conv2d", "elementwise_add", "max_pool2d", "relu"]


@pytest.mark.parametrize("moving", [{"strides": (3, 3)}, {"paddings": (1, 1)}])
def test_windows_may_not_see_nothing(moving: dict[str, Any]) -> None:
    layer = Layer(ceil_mode=True, **moving)
    assert layer.types(layer.out)[-1] == "max_pool2d"


def test_what_somebody_wants_to_see_stays_where_it_is() -> None:
    layer = Layer().trained()
    between = layer.relu.name + "@GRAD"
    assert layer.types(layer.relu, *ALL)[:4] == ["conv2d", "elementwise_add", "relu", "max_pool2d"]
    assert layer.types(layer.places, *ALL)[:4] == ["conv2d", "elementwise_add", "relu", "max_pool2d"]
    assert layer.types(between, *ALL)[:4] == ["conv2d", "elementwise_add", "relu", "max_pool2d"]
    assert layer.types(layer.biased, *ALL)[:4] == ["conv2d", "elementwise_add", "max_pool2d", "relu"]


def test_what_somebody_else_reads_stays_where_it_is() -> None:
    layer = Layer()
    squared = layer.b.op("square", X=layer.relu)
    assert layer.types(layer.out, squared)[:4] == ["conv2d", "elementwise_add", "relu", "max_pool2d"]
    where = layer.b.op("cast", {"dtype": "int64"}, X=layer.places)
    assert layer.types(layer.out, where)[:4] == ["conv2d", "elementwise_add", "relu", "max_pool2d"]


def test_a_gradient_with_two_sources_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer()
    more = layer.b.op("reduce_sum", X=layer.b.op("square", X=layer.relu))
    append_backward(layer.b.program, layer.b.op("sum", X=[layer.loss, more]))
    assert layer.types(*ALL)[:4] == ["conv2d", "elementwise_add", "relu", "max_pool2d"]
    plain = apart(layer, *ALL, monkeypatch=monkeypatch)
    for found, expected in zip(layer.run(*ALL), plain, strict=True):
        assert found.tobytes() == expected.tobytes()
