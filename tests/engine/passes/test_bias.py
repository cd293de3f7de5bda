"""A bias is fused with what is behind it, and with nothing that somebody else wants to see."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.passes import improve
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Variable
from paddle._engine.scope import Scope

X = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)


class Layer:
    """act(x @ w + bias), summed."""

    def __init__(self, act: str = "tanh", bias: tuple[int, ...] = (2,), extra: bool = False) -> None:
        self.b = Builder()
        w, c = self.b.parameter("w", (3, 2), Normal()), self.b.parameter("c", bias, Normal())
        self.sum = self.b.op("elementwise_add", X=self.b.op("mul", X=self.b.data("x", (-1, 3)), Y=w), Y=c)
        self.out = self.b.op(act, X=self.sum)
        both = [self.out, self.b.op("square", X=self.sum)] if extra else [self.out]
        self.loss = self.b.op("reduce_sum", X=self.b.op("sum", X=both))
        append_backward(self.b.program, self.loss)

    def types(self, *keep: Variable | str) -> set[str]:
        names = frozenset(k if isinstance(k, str) else k.name for k in keep)
        main = self.b.program.main
        return {each.type for each in improve(main.operators, Setting(names, main.variables)).operators}


@pytest.mark.parametrize("bias", [(2,), (1, 2)])
@pytest.mark.parametrize("act", ["sigmoid", "tanh", "relu"])
def test_a_bias_and_an_activation_become_one_forward_and_backward(act: str, bias: tuple[int, ...]) -> None:
    types = Layer(act, bias).types("w@GRAD", "c@GRAD")
    assert {"bias_activation", "bias_activation_grad"} <= types
    assert types.isdisjoint({"elementwise_add", "elementwise_add_grad", act, act + "_grad"})


def test_in_a_test_too() -> None:
    layer = Layer()
    assert "bias_activation" in layer.types(layer.out)


@pytest.mark.parametrize("bias", [(2,), (1, 2), (1, 1, 2)])
def test_a_bias_of_more_axes_than_two_too(bias: tuple[int, ...]) -> None:
    b, scope = Builder(), Scope()
    c, x = b.parameter("c", bias, Normal()), b.parameter("x", (4, 3, 2), Normal())
    out = b.op("tanh", X=b.op("elementwise_add", X=x, Y=c))
    append_backward(b.program, b.op("reduce_sum", X=out))
    main, names = b.program.main, frozenset({"x@GRAD", "c@GRAD"})
    assert "bias_activation_grad" in [
        each.type for each in improve(main.operators, Setting(names, main.variables)).operators
    ]
    initialize(b.program, scope, 0)
    out, at_x, at_c = Executor(scope).run(b.program, {}, [out, "x@GRAD", "c@GRAD"])
    np.testing.assert_allclose(out, np.tanh(scope.get("x") + scope.get("c")), atol=1e-6)
    np.testing.assert_allclose(at_x, 1 - out**2, atol=1e-5)
    np.testing.assert_allclose(at_c, (1 - out**2).sum((0, 1)).reshape(bias), rtol=1e-5)


@pytest.mark.parametrize("bias", [(3, 2), (4, 1, 2), (4, 3, 2), (3, 1)])
def test_what_differs_among_rows_is_no_bias(bias: tuple[int, ...]) -> None:
    b = Builder()
    x, c = b.parameter("x", (4, 3, 2), Normal()), b.parameter("c", bias, Normal())
    out, main = b.op("tanh", X=b.op("elementwise_add", X=x, Y=c)), b.program.main
    kept = frozenset({out.name})
    assert "bias_activation" not in [
        each.type for each in improve(main.operators, Setting(kept, main.variables)).operators
    ]


def test_a_sigmoid_within_limits_keeps_them() -> None:
    b, scope = Builder(), Scope()
    c, x = b.parameter("c", (2,), Normal()), b.parameter("x", (40, 2), Normal())
    out = b.op("sigmoid", {"x_min": -0.5, "x_max": 0.3}, X=b.op("elementwise_add", X=x, Y=c))
    append_backward(b.program, b.op("reduce_sum", X=out))
    main, names = b.program.main, frozenset({"x@GRAD"})
    assert "bias_activation_grad" in {
        op.type for op in improve(main.operators, Setting(names, main.variables)).operators
    }
    initialize(b.program, scope, 0)
    found, at_x = Executor(scope).run(b.program, {}, [out, "x@GRAD"])
    reached = scope.get("x") + scope.get("c")
    assert reached.min() < -0.5 and reached.max() > 0.3
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-np.clip(reached, -0.5, 0.3))), atol=1e-6)
    np.testing.assert_allclose(at_x, found * (1 - found), atol=1e-6)


@pytest.mark.parametrize("act", ["exp", "abs", "soft_relu"])
def test_other_activations_stay_apart(act: str) -> None:
    assert "elementwise_add" in Layer(act).types("w@GRAD", "c@GRAD")


@pytest.mark.parametrize("bias", [(1,), (1, 1)])
def test_what_is_added_to_all_columns_is_no_bias(bias: tuple[int, ...]) -> None:
    assert "bias_activation" not in Layer(bias=bias).types("w@GRAD", "c@GRAD")


def test_they_stay_apart_where_somebody_wants_what_is_between() -> None:
    layer = Layer()
    assert "elementwise_add" in layer.types(layer.sum, "w@GRAD")
    assert "elementwise_add_grad" in layer.types(layer.sum.name + "@GRAD", "w@GRAD", "c@GRAD")
    assert "elementwise_add" in Layer(extra=True).types("w@GRAD", "c@GRAD")


@pytest.mark.parametrize("wanted", [("w@GRAD",), ("c@GRAD",), ("w@GRAD", "c@GRAD")])
def test_each_gradient_is_there_without_the_other(wanted: tuple[str, ...]) -> None:
    layer, scope = Layer(), Scope()
    initialize(layer.b.program, scope, 0)
    (out, *found) = Executor(scope).run(layer.b.program, {"x": X}, [layer.out, *wanted])
    slope = 1 - out.astype(np.float64) ** 2
    expected = {"w@GRAD": X.T @ slope, "c@GRAD": slope.sum(0)}
    for name, gradient in zip(wanted, found, strict=True):
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-4, atol=1e-5)
