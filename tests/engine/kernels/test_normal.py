"""The compiled error function, and gelu, against their twins."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.kernels import normal

X = np.array([*np.linspace(-5, 5, 1001), 1e-8, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 2e-7), (np.float64, 1e-15)])
def test_the_error_function_and_its_twin_agree(dtype: type, off: float) -> None:
    found, expected = X.astype(dtype), np.empty(X.shape)
    if dtype == np.float32:
        normal.single_errors(found)
    else:
        normal.error_function(found, found)
    normal.numpy_error_function(X, expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=off)
    assert found[-3:-1].tolist() == [1, -1]


@pytest.mark.parametrize(
    ("kernel", "twin"), [(normal.gelus, normal.numpy_gelu), (normal.gelu_slopes, normal.numpy_gelu_slope)]
)
def test_gelu_and_its_slope_are_their_twins(kernel, twin) -> None:
    x = X[np.isfinite(X)]
    found = x.astype(np.float32)
    kernel(found)
    np.testing.assert_allclose(
        found / np.maximum(np.abs(x), 1), twin(x) / np.maximum(np.abs(x), 1), atol=4e-7
    )
    gone = np.array([np.nan], np.float32)
    kernel(gone)
    assert np.isnan(gone).all()
