"""The gradients of slices of one array are made in one, unless somebody wants to see them."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.passes import improve
from paddle._engine.passes.setting import Setting
from paddle._engine.scope import Scope


class Cut:
    """Columns of ``x`` from and to these numbers, each squared, and the whole, where it is ``used``."""

    def __init__(self, *bounds: tuple[int, int], used: bool = False) -> None:
        self.b = Builder()
        x = self.b.parameter("x", (3, 5), Normal())
        pieces = [
            self.b.op("slice", {"axes": (1,), "starts": (start,), "ends": (end,)}, X=x)
            for start, end in bounds
        ]
        summed = [self.b.op("reduce_sum", X=self.b.op("square", X=each)) for each in pieces]
        summed += [self.b.op("reduce_sum", X=x)] if used else []
        append_backward(self.b.program, self.b.op("sum", X=summed))

    def types(self, *keep: str) -> list[str]:
        main = self.b.program.main
        names = frozenset({"x@GRAD", *keep})
        return [each.type for each in improve(main.operators, Setting(names, main.variables)).operators]

    def gradient(self) -> tuple[np.ndarray, np.ndarray]:
        scope = Scope()
        initialize(self.b.program, scope, 1)
        return scope.get("x"), Executor(scope).run(self.b.program, {}, ["x@GRAD"])[0]


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("bounds", [((0, 2), (2, 5)), ((0, 1), (3, 5)), ((0, 3), (2, 5), (2, 3))])
def test_slices_of_one_array_have_one_gradient(bounds: tuple[tuple[int, int], ...], used: bool) -> None:
    cut = Cut(*bounds, used=used)
    types = cut.types()
    assert (types.count("slices_grad"), types.count("slice_grad"), types.count("sum")) == (1, 0, 1 + used)
    x, found = cut.gradient()
    counts = np.zeros(5)
    for start, end in bounds:
        counts[start:end] += 1
    np.testing.assert_allclose(found, 2 * x * counts + used, rtol=1e-6, atol=1e-6)


def test_a_gradient_that_somebody_wants_stays_apart_and_one_alone_is_itself() -> None:
    types = Cut((0, 2), (2, 4), (4, 5)).types("x@GRAD@1")
    assert (types.count("slices_grad"), types.count("slice_grad")) == (1, 1)
    assert "slices_grad" not in Cut((0, 2)).types()
    assert "slices_grad" not in Cut((0, 2), used=True).types()
