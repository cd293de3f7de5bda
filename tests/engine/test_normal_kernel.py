"""The compiled error function against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.kernels.normal import error_function, numpy_error_function


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 1e-7), (np.float64, 1e-15)])
def test_kernel_and_twin_agree(dtype: type, off: float) -> None:
    x = np.array([*np.linspace(-5, 5, 101), np.inf, -np.inf, np.nan], dtype)
    found, expected = np.empty_like(x), np.empty_like(x)
    error_function(x, found)
    numpy_error_function(x, expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=off)
    assert found[-3:-1].tolist() == [1, -1]
