"""Passes: fewer and better operators, the same results."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.passes import Improved, fuse_softmax_cost, improve, prune
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Variable
from paddle._engine.scope import Scope

RNG = np.random.default_rng(2)
FEED = {"x": RNG.normal(size=(6, 3)).astype(np.float32), "y": RNG.integers(0, 4, (6, 1))}


class Classifier:
    """A softmax over four classes, its cost and error, with whatever else reads the probabilities."""

    def __init__(self) -> None:
        self.b = Builder()
        self.w = self.b.parameter("w", (3, 4), Normal())
        self.label = self.b.data("y", (-1, 1), "int64")
        logits = self.b.op("mul", X=self.b.data("x", (-1, 3)), Y=self.w)
        self.probability = self.b.op("softmax", X=logits)
        self.cost = self.b.op("cross_entropy", X=self.probability, Label=self.label)
        self.error = self.b.op("classification_error", X=self.probability, Label=self.label)

    def types(self, *keep: Variable | str) -> list[str]:
        names = frozenset(k if isinstance(k, str) else k.name for k in keep)
        main = self.b.program.main
        return [each.type for each in improve(main.operators, Setting(names, main.variables)).operators]

    def run(self, *fetch: Variable | str) -> list[np.ndarray]:
        scope = Scope()
        initialize(self.b.program, scope, 0)
        return Executor(scope).run(self.b.program, FEED, fetch)


def apart(model: Classifier, *fetch: Variable | str, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    with monkeypatch.context() as patch:
        patch.setattr(
            "paddle._engine.plan.improve",
            lambda operators, setting: Improved(prune(operators, setting.keep)),
        )
        return model.run(*fetch)


def test_softmax_and_cost_are_fused_forward_and_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Classifier()
    append_backward(model.b.program, model.cost)
    fetch = (model.cost, model.error, "w@GRAD", model.probability)
    assert model.types(*fetch) == [
        "mul",
        "softmax_with_cross_entropy",
        "classification_error",
        "fill_any_like",
        "softmax_with_cross_entropy_grad",
        "mul_grad",
    ]
    for fused, plain in zip(model.run(*fetch), apart(model, *fetch, monkeypatch=monkeypatch), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-5, atol=1e-6)


def test_they_are_fused_in_a_test_too() -> None:
    model = Classifier()
    assert model.types(model.cost) == ["mul", "softmax_with_cross_entropy"]


def test_probabilities_alone_stay_a_softmax() -> None:
    model = Classifier()
    assert model.types(model.error) == ["mul", "softmax", "classification_error"]


def test_they_stay_apart_where_the_gradient_has_another_source(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Classifier()
    squares = model.b.op(
        "reduce_sum", {"dim": 1, "keep_dim": True}, X=model.b.op("square", X=model.probability)
    )
    append_backward(model.b.program, model.b.op("sum", X=[model.cost, squares]))
    assert "softmax_with_cross_entropy" not in model.types("w@GRAD")
    plain = apart(model, "w@GRAD", monkeypatch=monkeypatch)
    np.testing.assert_array_equal(model.run("w@GRAD"), plain)


def test_they_stay_apart_where_the_gradient_of_the_probabilities_is_fetched() -> None:
    model = Classifier()
    append_backward(model.b.program, model.cost)
    gradient = model.probability.name + "@GRAD"
    assert "cross_entropy_grad" in model.types(gradient, "w@GRAD")
    assert model.run(gradient)[0].shape == (6, 4)


def test_they_stay_apart_where_two_costs_read_the_probabilities() -> None:
    model = Classifier()
    second = model.b.op("cross_entropy", X=model.probability, Label=model.label)
    assert model.types(model.cost, second) == ["mul", "softmax", "cross_entropy", "cross_entropy"]


def test_they_stay_apart_where_the_label_is_computed_later() -> None:
    model = Classifier()
    guess = model.b.ops("top_k", X=model.probability)["Indices"]
    cost = model.b.op("cross_entropy", X=model.probability, Label=guess)
    assert model.types(cost) == ["mul", "softmax", "top_k", "cross_entropy"]


def test_the_program_itself_is_not_changed() -> None:
    model = Classifier()
    before = list(model.b.program.main.operators)
    fuse_softmax_cost(model.b.program.main.operators, frozenset())
    assert model.b.program.main.operators == before


def test_what_nothing_depends_on_is_left_out() -> None:
    model = Classifier()
    assert model.types() == []
    assert model.types(model.probability) == ["mul", "softmax"]
