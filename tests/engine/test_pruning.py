"""Which values stay, and that nothing moves the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Numpy
from paddle._engine.pruning import MASK, append_pruning, mask_of, pruned
from paddle._engine.scope import Scope


@pytest.mark.parametrize(("ratio", "stay"), [(0.0, 10), (0.3, 7), (0.6, 4), (0.9, 1), (1.0, 0)])
def test_the_largest_stay_whatever_their_sign(ratio: float, stay: int) -> None:
    values = np.array([[1, -9, 3, -2, 5], [-4, 8, 7, 6, -10]], np.float32)
    mask = mask_of(values, ratio)
    assert mask.dtype == np.float32
    assert sorted(np.abs(values[mask == 1]).tolist()) == list(range(11 - stay, 11))


def test_of_equals_the_first_stay() -> None:
    assert mask_of(np.zeros(4, np.float32), 0.5).tolist() == [1, 1, 0, 0]


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5]), min_size=1), st.floats(0, 1))
def test_the_mask_of_what_was_pruned_is_the_mask_that_pruned_it(given: list[float], ratio: float) -> None:
    values = np.array(given, np.float32)
    once = pruned(values, ratio)
    assert mask_of(once, ratio).tolist() == mask_of(values, ratio).tolist()
    assert pruned(once, ratio).tobytes() == once.tobytes()


def test_gradients_of_what_goes_are_zero_and_of_others_what_they_were() -> None:
    b = Builder()
    x = b.data("x", (-1, 3))
    w, v = (b.parameter(name, (3, 2), Numpy(np.full((3, 2), value))) for name, value in (("w", 2), ("v", 3)))
    both = b.op("elementwise_mul", X=b.op("mul", X=x, Y=w), Y=b.op("mul", X=x, Y=v))
    loss = b.op("reduce_sum", X=both)
    scope = Scope()
    initialize(b.program, scope, seed=1)
    plain = append_backward(b.program, loss)
    pairs = append_pruning(b.program, plain, {"w"})
    mask = np.array([[1, 0], [0, 1], [0, 0]], np.float32)
    scope.bind({"w" + MASK: mask})
    wanted = [gradient for _, gradient in pairs]
    feed = {"x": -np.ones((4, 3), np.float32)}
    first = Executor(scope).run(b.program, feed, wanted)
    found = {parameter.name: gradient for (parameter, _), gradient in zip(pairs, first, strict=True)}
    assert found["v"].tolist() == [[24.0, 24.0]] * 3
    assert found["w"].tobytes() == (np.float32(36) * mask).tobytes()  # no -0 among them
