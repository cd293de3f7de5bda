"""Functions that 2.6.2 refuses for whole numbers, and that would cut what is behind the point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle._program.lowering.floats import FLOATS
from paddle._program.lowering.op_rows import has_row
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import ran

pytestmark = pytest.mark.usefixtures("alone")

Function = Callable[[Any], Any]

OF_OPERATORS: dict[str, Function] = {
    "cholesky": paddle.linalg.cholesky,
    "determinant": paddle.linalg.det,
    "digamma": paddle.digamma,
    "dropout": lambda x: F.dropout(x, mode="downscale_in_infer", training=False),
    "eigh": paddle.linalg.eigvalsh,
    "erfinv": paddle.erfinv,
    "i0": paddle.i0,
    "i0e": paddle.i0e,
    "i1": paddle.i1,
    "i1e": paddle.i1e,
    "inverse": paddle.inverse,
    "lgamma": paddle.lgamma,
    "logcumsumexp": paddle.logcumsumexp,
    "lu": paddle.linalg.lu,
    "nextafter": lambda x: paddle.nextafter(x, x),
    "pinv": paddle.linalg.pinv,
    "polygamma": lambda x: paddle.polygamma(x, 1),
    "qr": paddle.linalg.qr,
    "slogdeterminant": paddle.linalg.slogdet,
    "solve": lambda x: paddle.linalg.solve(x, x),
    "svd": paddle.linalg.svd,
    "triangular_solve": lambda x: paddle.linalg.triangular_solve(x, x),
    "lstsq": lambda x: paddle.linalg.lstsq(x, x),
}
OF_IMAGES: dict[str, Function] = {
    "pool2d": lambda x: F.avg_pool2d(x, 2),
    "bilinear_interp_v2": lambda x: F.interpolate(x, [4, 4], mode="bilinear"),
    "bicubic_interp_v2": lambda x: F.interpolate(x, [4, 4], mode="bicubic"),
}
OF_FUNCTIONS: dict[str, Function] = {
    "addmm": lambda x: paddle.addmm(x, x, x, alpha=0.5),
    "angle": paddle.angle,
    "cumulative_trapezoid": paddle.cumulative_trapezoid,
    "lerp": lambda x: paddle.lerp(x, x, 0.5),
    "logit": lambda x: paddle.logit(x, 0.1),
    "multigammaln": lambda x: paddle.multigammaln(x, 2),
    "nanmean": paddle.nanmean,
    "nn.functional.gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x, x, x),
    "norm": lambda x: paddle.norm(x, 3),
    "normal": lambda x: paddle.normal(0.0, x),
    "renorm": lambda x: paddle.renorm(x, 2.0, 1, 1.0),
    "trapezoid": paddle.trapezoid,
}


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
@pytest.mark.parametrize("type", OF_OPERATORS)
def test_an_operator_of_floats_refuses_whole_numbers(type: str, dtype: str) -> None:
    told = rf"operator '{type}' .* computes with floats, and \w+, 'x', is of {dtype}: cast it to float32"
    with pytest.raises(TypeError, match=told):
        OF_OPERATORS[type](paddle.static.data("x", [3, 3], dtype))


@pytest.mark.parametrize("type", OF_IMAGES)
def test_so_does_one_of_images(type: str) -> None:
    with pytest.raises(TypeError, match=rf"operator '{type}' .* X, 'x', is of int64: cast it to float32"):
        OF_IMAGES[type](paddle.static.data("x", [1, 2, 8, 8], "int64"))


@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_so_does_a_function_that_others_make_up(name: str) -> None:
    told = rf"paddle.{name} computes with floats, and \w+, 'x', is of int64: cast it to float32"
    with pytest.raises(TypeError, match=told):
        OF_FUNCTIONS[name](paddle.static.data("x", [3, 3], "int64"))


@pytest.mark.parametrize("type", FLOATS)
def test_the_table_is_of_operators_that_there_are(type: str) -> None:
    assert has_row(type)


def test_what_is_right_of_whole_numbers_is_taken() -> None:
    whole = np.array([[[[1, 7], [3, 2]]]])
    x = paddle.static.data("x", [1, 1, 2, 2], "int64")
    (found,) = ran([F.dropout(x, training=False)], {"x": whole})
    assert found.tolist() == whole.tolist()


def test_images_of_bytes_are_resized() -> None:
    x = paddle.static.data("x", [1, 1, 2, 2], "uint8")
    (found,) = ran(
        [F.interpolate(x, [1, 4], mode="bilinear")], {"x": np.array([[[[10, 20], [30, 41]]]], "uint8")}
    )
    assert found.dtype == np.uint8
    assert found.tolist() == [[[[20, 22, 27, 30]]]]
