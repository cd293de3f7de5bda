"""Memory: nothing that is in use at the same time shares bytes, and what may share does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.memory import ALIGNMENT, Memory, Storage, arrange

storages = st.lists(
    st.builds(
        lambda nbytes, first, length: Storage(nbytes, first, first + length),
        st.integers(0, 5000),
        st.integers(0, 30),
        st.integers(0, 10),
    ),
    max_size=30,
)


@given(storages)
def test_storages_in_use_together_never_overlap(given: list[Storage]) -> None:
    total = arrange(given)
    for i, a in enumerate(given):
        assert a.offset % ALIGNMENT == 0
        assert a.offset >= 0 and a.offset + a.nbytes <= total
        for b in given[:i]:
            together = a.first <= b.last and b.first <= a.last
            apart = a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset
            assert apart or not together


@given(storages)
def test_the_arena_is_never_larger_than_all_storages_side_by_side(given: list[Storage]) -> None:
    assert arrange(given) <= sum(each.nbytes + ALIGNMENT for each in given)


def test_a_chain_takes_two_buffers_however_long_it_is() -> None:
    assert arrange([Storage(640, i, i + 1) for i in range(50)]) == 2 * 640


def test_a_view_lives_as_long_as_what_it_views() -> None:
    memory = Memory({"a": 1, "b": 5})
    memory.new("a", 64, 0)
    assert memory.view("b", "a", 64, 1)
    assert memory["b"] is memory["a"]
    assert (memory["a"].first, memory["a"].last) == (0, 5)


def test_what_does_not_fit_is_a_mistake_of_the_caller() -> None:
    memory = Memory({"a": 1})
    memory.new("a", 64, 0)
    with pytest.raises(ValueError, match=r"'b' \(32 bytes\) cannot share 'a' \(64 bytes\)"):
        memory.view("b", "a", 32, 1)
    with pytest.raises(ValueError, match="cannot share"):
        memory.overwrite("b", "a", 128, 1, ["a"])


def test_what_changes_is_not_viewed_by_what_is_read_later() -> None:
    memory = Memory({"parameter": 1, "early": 4, "late": 5, "again": 5})
    memory.adopt("parameter", 64, until=4)
    assert not memory.view("late", "parameter", 64, 1)
    assert memory.view("early", "parameter", 64, 1)
    assert not memory.view("again", "early", 64, 2)


def test_an_input_is_overwritten_only_after_its_last_use() -> None:
    memory = Memory({"a": 3, "b": 2})
    memory.new("a", 64, 0)
    memory.new("b", 64, 0)
    assert not memory.overwrite("c", "a", 64, 2, ["a", "b"])
    assert memory.overwrite("c", "b", 64, 2, ["a", "b"])


def test_an_input_is_not_overwritten_while_a_view_of_it_lives() -> None:
    memory = Memory({"a": 1, "b": 4})
    memory.new("a", 64, 0)
    memory.view("b", "a", 64, 1)
    assert not memory.overwrite("c", "a", 64, 2, ["a"])


def test_an_input_is_not_overwritten_if_another_input_is_a_view_of_it() -> None:
    memory = Memory({"a": 2, "b": 2})
    memory.new("a", 64, 0)
    memory.view("b", "a", 64, 1)
    assert not memory.overwrite("c", "a", 64, 2, ["a", "b"])


def test_what_is_not_ours_is_never_overwritten() -> None:
    memory = Memory({"feed": 1})
    memory.adopt("feed", 64)
    assert not memory.overwrite("b", "feed", 64, 1, ["feed"])
    assert memory.view("c", "feed", 64, 1)
