"""Fluid's files, byte by byte."""

from __future__ import annotations

import contextlib
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.checkpoint import lod_tensor

# Float32 [[1, 2, 3], [4, 5, 6]], as PaddlePaddle 3.3.1 writes it.
ORIGINAL = bytes.fromhex("00000000 0000000000000000 00000000 06000000 080510021003") + struct.pack(
    "<6f", 1, 2, 3, 4, 5, 6
)
TWO_BY_THREE = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def written(*arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    for array in arrays:
        lod_tensor.write(file, array.shape, [array[:1], array[1:]])
    return file.getvalue()


def test_a_variable_has_the_bytes_of_the_original() -> None:
    assert written(TWO_BY_THREE) == ORIGINAL
    np.testing.assert_array_equal(lod_tensor.read(io.BytesIO(ORIGINAL)), TWO_BY_THREE)


def test_levels_and_whole_numbers_are_read() -> None:
    levels = struct.pack("<QQ3Q", 1, 24, 0, 1, 2)
    data = bytes(4) + levels + bytes(4) + b"\x04\0\0\0" + b"\x08\x03\x10\x02" + struct.pack("<2q", 7, -8)
    np.testing.assert_array_equal(lod_tensor.read(io.BytesIO(data)), np.array([7, -8]))
    assert next(lod_tensor.read_levels(io.BytesIO(data)))[1] == [[0, 1, 2]]
    file = io.BytesIO()
    lod_tensor.write_levels(file, np.array([7, -8]), [[0, 1, 2]])
    assert file.getvalue() == data


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "i4", "i8", "f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_an_array_of_any_dtype_comes_back(dtype: str, shape: tuple[int, ...]) -> None:
    array, file = np.ones(shape, dtype), io.BytesIO()
    lod_tensor.write_levels(file, array)
    file.seek(0)
    back = lod_tensor.read(file)
    assert back.dtype == array.dtype.newbyteorder("<")
    np.testing.assert_array_equal(back, array)


def test_a_dtype_that_the_original_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="complex128"):
        lod_tensor.write_levels(io.BytesIO(), np.ones(1, complex))


def test_variables_follow_each_other() -> None:
    some = [TWO_BY_THREE, np.ones((3, 1), np.float32), np.zeros((1,), np.float32)]
    for one, other in zip(lod_tensor.read_all(io.BytesIO(written(*some))), some, strict=True):
        np.testing.assert_array_equal(one, other)


@given(st.integers(0, len(ORIGINAL) - 1))
def test_a_file_that_is_cut_off_is_no_tensor(length: int) -> None:
    with pytest.raises(ValueError, match=r"tensor"):
        lod_tensor.read(io.BytesIO(ORIGINAL[:length]))


@given(st.binary(max_size=80), st.integers(0, len(ORIGINAL)))
def test_whatever_is_no_tensor_is_a_value_error(junk: bytes, begin: int) -> None:
    with contextlib.suppress(ValueError):
        list(lod_tensor.read_all(io.BytesIO(ORIGINAL[:begin] + junk)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x01" + ORIGINAL[1:], "version"),
        (ORIGINAL[:16] + b"\xff\xff\xff\x7f" + ORIGINAL[20:], "description has 2147483647 bytes"),
        (ORIGINAL.replace(b"\x08\x05", b"\x08\x07"), "type 7"),
        (ORIGINAL[:24] + b"\x10\x7f" + ORIGINAL[26:], "too early"),
        (bytes(4) + b"\xff" * 8 + ORIGINAL[12:], "levels of sequences, 8 are"),
        (bytes(4) + struct.pack("<QQ", 1, 7) + ORIGINAL[12:], "take 7 bytes"),
        (bytes(4) + struct.pack("<QQ2Q", 1, 16, 1, 2) + ORIGINAL[12:], "begin with 0"),
        (bytes(4) + struct.pack("<QQ2Q", 1, 16, 0, 3) + ORIGINAL[12:], "sequences of 3 rows"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        lod_tensor.read(io.BytesIO(data))
