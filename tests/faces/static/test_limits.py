"""paddle.finfo, paddle.iinfo and paddle.utils: the numbers are those that 2.6.2 prints."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle.utils import deprecated, require_version, try_import, unique_name


def test_floating_point_numbers_end_where_2_6_says() -> None:
    found = paddle.finfo(paddle.float32)
    assert (found.eps, found.resolution, found.bits) == (1.1920928955078125e-07, 1e-06, 32)
    assert (found.max, found.tiny, found.dtype) == (3.4028234663852886e38, 1.1754943508222875e-38, "float32")
    assert found.smallest_normal == found.tiny and found.min == -found.max
    assert paddle.finfo("float64").tiny == 2.2250738585072014e-308
    assert str(paddle.finfo("float16")) == (
        "paddle.finfo(min=-65504, max=65504, eps=0.000976562, resolution=0.001, smallest_normal=6.10352e-05, "
        "tiny=6.10352e-05, bits=16, dtype=float16)"
    )


def test_whole_numbers_end_where_2_6_says() -> None:
    assert str(paddle.iinfo("int64")) == (
        "paddle.iinfo(min=-9223372036854775808, max=9223372036854775807, bits=64, dtype=int64)"
    )
    assert (paddle.iinfo("uint8").max, paddle.iinfo(np.int8).min) == (255, -128)


@pytest.mark.parametrize(
    ("what", "dtype"),
    [("finfo", "int32"), ("iinfo", "float32"), ("iinfo", "bool"), ("finfo", None), ("finfo", "q")],
)
def test_other_dtypes_are_refused(what: str, dtype: object) -> None:
    with pytest.raises(ValueError, match=r"paddle\.|is not a dtype"):
        getattr(paddle, what)(dtype)


def test_modules_that_are_not_installed_are_named() -> None:
    assert try_import("json") is __import__("json")
    with pytest.raises(ImportError, match="pip install opencv-python"):
        try_import("cv2.nothing" if "cv2" in __import__("sys").modules else "cv2")
    with pytest.raises(ImportError, match="my words"):
        try_import("no_such_module_at_all", "my words")


def test_a_deprecated_function_says_what_to_call_instead(recwarn: pytest.WarningsRecorder) -> None:
    @deprecated(update_to="paddle.add", since="2.0", reason="It is shorter.")
    def older(x: int) -> int:
        """Add one."""
        return x + 1

    assert older(1) == 2
    assert not [each for each in recwarn if each.category is not ResourceWarning]
    assert older.__doc__ == "Deprecated since 2.0. Call paddle.add instead. It is shorter.\n\nAdd one."


def test_versions_and_names() -> None:
    require_version("2.0.0", "2.6.2")
    with pytest.raises(ValueError, match=r"3\.0"):
        require_version("3.0.0")
    with unique_name.guard():
        assert unique_name.generate_with_ignorable_key("fc") == "fc_0"
