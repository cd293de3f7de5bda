"""Products in which what is too small for a float is 0, and nothing else in which it is."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from paddle._engine.kernels import flushing
from paddle._engine.single import Single
from paddle._engine.tiled import flushed

pytestmark = pytest.mark.skipif(not flushing.IS_THERE, reason="this processor is told in another way")
TINY, SMALL = np.float32(1e-30), np.float32(1e-10)
WIDE = np.full((64, 64), TINY)


def is_flushed() -> bool:
    return not (np.full(8, TINY) * SMALL).any()


def test_the_processor_is_told_for_as_long_as_is_said() -> None:
    assert not is_flushed()
    before = flushing.flush()
    try:
        assert is_flushed()
    finally:
        flushing.restore(before)
    assert not is_flushed()


def test_a_step_is_flushed_and_what_is_behind_it_is_not_even_where_it_fails() -> None:
    assert flushed(is_flushed, WIDE)() is True
    assert not is_flushed()
    with pytest.raises(ZeroDivisionError):
        flushed(lambda factor: 1 / factor, WIDE)(0)
    assert not is_flushed()


def test_a_product_with_few_numbers_or_wide_ones_is_called_as_it_is() -> None:
    assert flushed(is_flushed, WIDE[:8]) is is_flushed
    assert flushed(is_flushed, WIDE.astype(np.float64)) is is_flushed


@pytest.mark.parametrize(("type", "attrs"), [("mul", {}), ("matmul", {"transpose_Y": True})])
def test_gradients_by_slopes_that_are_too_small_are_none(type: str, attrs: dict[str, bool]) -> None:
    """Those behind a mask are: with them a product takes ten times as long."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((rows, 64), np.float32) for rows in (32, 64))
    is_any = []
    for slope in (np.float32(1), np.float32(1e-40)):
        single = Single(type, {"X": [x], "Y": [y]}, attrs)
        given = np.full((32, 64), slope)
        found = single.gradient(given, ["X", "Y"])
        assert all(np.isfinite(each[0]).all() for each in found.values())
        is_any.append(found["X"][0].any())
    assert is_any == [True, False]


FIRST = """
import sys
import numpy as np
from paddle._engine import tiled
rows = int(sys.argv[1])
x, y, out = (np.ones(shape, np.float32) for shape in ((rows, 64), (64, 128), (rows, 128)))
step = tiled.multiply(x, y, out, tiled.taken(tiled.room, x, y))
tiled.flushed(step or (lambda: np.matmul(x, y, out)), y)()
"""


@pytest.mark.parametrize("rows", [32, 128])
def test_numpy_learns_the_least_numbers_before_they_are_taken_for_0(rows: int) -> None:
    """The first call of a kernel has numba load what looks for them."""
    argv = [sys.executable, "-W", "error", "-c", FIRST, str(rows)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
