"""LoDTensor: what is set is there, offsets and lengths say the same, and what does not fit is seen."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._program.description.dtypes import VarType
from paddle._program.running.lod_tensor import (
    LoDTensor,
    LoDTensorArray,
    create_lod_tensor,
    create_random_int_lodtensor,
)


def test_a_tensor_holds_a_copy_of_what_was_set() -> None:
    tensor, given = LoDTensor(), np.arange(6, dtype=np.int32).reshape(3, 2)
    assert not tensor._is_initialized()
    assert tensor.shape() == []
    tensor.set(given, None)
    given[0, 0] = 9
    assert np.array(tensor).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert tensor._dtype() == VarType.INT32
    assert tensor.shape() == [3, 2]
    assert np.asarray(tensor, np.float64).dtype == np.float64
    assert np.array(tensor[1:]).tolist() == [[2, 3], [4, 5]]
    held = tensor._array
    tensor.set(np.zeros((3, 2), np.int32), None)
    assert tensor._array is held
    assert not held.any()
    with pytest.raises(ValueError, match="holds nothing yet"):
        np.array(LoDTensor())


@pytest.mark.parametrize(("dtype", "kind"), [("float32", "float"), ("float64", "double")])
def test_an_element_is_read_and_put_by_its_place_among_all(dtype: str, kind: str) -> None:
    tensor = LoDTensor(np.arange(6, dtype=dtype).reshape(2, 3))
    get, put = (getattr(tensor, f"_{verb}_{kind}_element") for verb in ("get", "set"))
    assert get(4) == 4.0
    put(4, 7.5)
    assert np.array(tensor).tolist() == [[0, 1, 2], [3, 7.5, 5]]
    for beyond in (6, -1):
        with pytest.raises(IndexError, match=rf"element {beyond} of a LoDTensor that holds 6: \[2, 3\]"):
            get(beyond)
    tensor.set(np.arange(6), None)
    with pytest.raises(TypeError, match=f"holds int64, and is asked for an element of {dtype}"):
        get(0)


def test_offsets_and_lengths_say_the_same_on_all_levels() -> None:
    tensor = LoDTensor(np.zeros((6, 1)))
    tensor.set_lod([[0, 2, 3], [0, 2, 2, 6]])
    assert tensor.recursive_sequence_lengths() == [[2, 1], [2, 0, 4]]
    tensor.set_recursive_sequence_lengths([[1, 2], [1, 2, 3]])
    assert tensor.lod() == [[0, 1, 3], [0, 1, 3, 6]]
    assert tensor.has_valid_recursive_sequence_lengths()
    for wrong in ([[1, 1], [1, 2, 3]], [[3], [1, 2, 2]]):
        with pytest.raises(ValueError, match=r"do not divide an array of shape \[6, 1\]"):
            tensor.set_recursive_sequence_lengths(wrong)
        assert tensor.lod() == [[0, 1, 3], [0, 1, 3, 6]]
    tensor.set_lod([[0, 5]])
    assert not tensor.has_valid_recursive_sequence_lengths()
    with pytest.raises(ValueError, match="a sequence cannot have -1 elements"):
        tensor.set_recursive_sequence_lengths([[3, -1, 1]])
    with pytest.raises(ValueError, match=r"level 0 of a LoD is \[2, 3\]: offsets begin with 0"):
        tensor.set_lod([[2, 3]])


def test_a_tensor_says_what_it_holds() -> None:
    """Texts of 1.8.5, which programs split at their lines."""
    words = LoDTensor(np.arange(6).reshape(3, 2), [[0, 1, 3]])
    head = "\tlod: {{0, 1, 3}}\n\tdim: 3, 2\n\tlayout: NCHW\n"
    assert str(words) == head + "\tdtype: int64_t\n\tdata: [0 1 2 3 4 5]\n"
    numbers = LoDTensor(np.array([1e-8, 1e8, np.nan, -0.5, 123456.7]))
    plain = "\tlod: {}\n\tdim: 5\n\tlayout: NCHW\n"
    assert str(numbers) == plain + "\tdtype: double\n\tdata: [1e-08 1e+08 nan -0.5 123457]\n"
    assert str(LoDTensor(np.array([True, False]))).endswith("\tdtype: bool\n\tdata: [1 0]\n")
    assert repr(words) == "LoDTensor(shape=[3, 2], dtype=int64, lod=[[0, 1, 3]])"
    assert str(LoDTensor(np.arange(40))).count(" 3") == 11, "all numbers are there"
    assert float(str(LoDTensor(np.float32([[1.1]]))).split("\n")[-2].replace("\tdata:", "")[2:-1]) == 1.1


def test_a_tensor_is_made_of_lists_and_arrays() -> None:
    words = create_lod_tensor([[1, 2], [3]], [[2, 1]], None)
    assert np.array(words).tolist() == [[1], [2], [3]]
    assert np.array(words).dtype == np.int64
    assert words.lod() == [[0, 2, 3]]
    assert create_lod_tensor(words, [[1, 2]], None).lod() == [[0, 1, 3]]
    nested = create_lod_tensor(np.ones((3, 4), np.float32), [[2], [1, 2]], None)
    assert nested.recursive_sequence_lengths() == [[2], [1, 2]]
    with pytest.raises(ValueError, match=r"lengths \[2, 1\], and recursive_seq_lens says \[\[1, 2\]\]"):
        create_lod_tensor([[1, 2], [3]], [[1, 2]], None)
    with pytest.raises(ValueError, match=r"do not divide an array of shape \[3, 1\]"):
        create_lod_tensor(np.ones((3, 1)), [[1, 1]], None)


def test_random_integers_lie_between_both_ends() -> None:
    tensor = create_random_int_lodtensor([[40, 60]], [2], None, low=3, high=5)
    assert tensor.shape() == [100, 2]
    assert set(np.array(tensor).ravel().tolist()) == {3, 4, 5}
    assert tensor.recursive_sequence_lengths() == [[40, 60]]


def test_an_array_of_tensors_takes_arrays() -> None:
    tensors = LoDTensorArray()
    tensors.append(np.zeros((2, 1)))
    tensors.append(LoDTensor(np.ones((1, 1)), [[0, 1]]))
    assert [tensor.shape() for tensor in tensors] == [[2, 1], [1, 1]]
    assert tensors[1].lod() == [[0, 1]]
