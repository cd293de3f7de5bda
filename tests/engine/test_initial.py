"""Initializers: the right distribution, and the same values for the same seed and name."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import initial
from paddle._engine.builder import Builder
from paddle._engine.errors import ShapeError
from paddle._engine.executor import initialize
from paddle._engine.scope import Scope

SHAPE = (300, 200)


def made(initializer, shape=SHAPE, seed: int = 1, name: str = "w") -> np.ndarray:
    return initializer(shape, initial.generator_for(seed, name))


ALL = [
    initial.Constant(0.5),
    initial.Uniform(-2.0, 3.0),
    initial.Normal(1.0, 0.1),
    initial.Xavier(),
    initial.Xavier(uniform=False),
    initial.MSRA(),
    initial.MSRA(uniform=False),
    initial.Numpy(np.arange(60000.0).reshape(SHAPE)),
]


@pytest.mark.parametrize("initializer", ALL, ids=lambda each: type(each).__name__)
def test_values_are_float32_and_repeat(initializer) -> None:
    value = made(initializer)
    assert (value.dtype, value.shape, value.flags.c_contiguous) == (np.float32, SHAPE, True)
    np.testing.assert_array_equal(value, made(initializer))


def test_another_seed_or_name_gives_other_values() -> None:
    values = [made(initial.Normal(), seed=seed, name=name) for seed in (1, 2) for name in ("v", "w")]
    for i, value in enumerate(values):
        assert all(abs(np.corrcoef(value.ravel(), other.ravel())[0, 1]) < 0.02 for other in values[:i])


def test_moments_and_bounds() -> None:
    uniform = made(initial.Uniform(-2.0, 3.0))
    assert uniform.min() >= -2 and uniform.max() < 3 and abs(uniform.mean() - 0.5) < 0.02
    normal = made(initial.Normal(1.0, 0.1))
    assert abs(normal.mean() - 1) < 0.002 and abs(normal.std() - 0.1) < 0.002
    for initializer, variance in [
        (initial.Xavier(), 2 / 500),
        (initial.Xavier(uniform=False), 2 / 500),
        (initial.MSRA(), 2 / 300),
        (initial.MSRA(uniform=False), 2 / 300),
    ]:
        assert abs(made(initializer).var() / variance - 1) < 0.02


def test_fans_of_vectors_and_filters() -> None:
    assert abs(made(initial.MSRA(uniform=False), (10000,)).var() * 10000 / 2 - 1) < 0.1
    assert abs(made(initial.MSRA(uniform=False), (64, 16, 3, 3)).var() * 16 * 9 / 2 - 1) < 0.1


def test_a_value_does_not_depend_on_other_parameters() -> None:
    first, second = Builder(), Builder()
    first.parameter("w", (3, 2), initial.Normal())
    second.parameter("before", (5,), initial.Normal())
    second.parameter("w", (3, 2), initial.Normal())
    scopes = [Scope(), Scope()]
    for scope, builder in zip(scopes, (first, second), strict=True):
        initialize(builder.program, scope, seed=9)
    np.testing.assert_array_equal(scopes[0].get("w"), scopes[1].get("w"))


def test_what_the_scope_holds_is_kept() -> None:
    builder, scope = Builder(), Scope()
    builder.parameter("w", (2,), initial.Normal())
    scope.set("w", np.array([7, 8], np.float32))
    initialize(builder.program, scope, seed=0)
    np.testing.assert_array_equal(scope.get("w"), [7, 8])


def test_an_array_of_another_shape_is_refused() -> None:
    with pytest.raises(ShapeError, match="cannot initialize"):
        made(initial.Numpy(np.zeros(3)))
