"""What a set of wheels lacks is found by the conditions of the node, whatever Python looks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.errors import DeliveryError
from paddle._launch.upkeep.closure import Wheel, lacking, read
from tests.launch.upkeep import wheels

MARKS = {"python_version": "3.11", "python_full_version": "3.11.2", "sys_platform": "linux"}
NAMES = st.sampled_from([f"p{number}" for number in range(8)])


def wheel(name: str, *requires: str, version: str = "1.0") -> Wheel:
    return Wheel(file=f"{name}.whl", name=name, version=version, files=1, unpacked=0, requires=requires)


def test_a_wheel_says_what_it_is(tmp_path: Path) -> None:
    path = wheels.make(tmp_path, "Two-Words", "2.5", requires=["numpy>=1", 'other; extra == "x"'])
    found = read(path)
    assert (found.name, found.version, found.file) == ("two-words", "2.5", path.name)
    assert found.requires == ("numpy>=1", 'other; extra == "x"')
    assert found.files == 4
    assert found.unpacked > 0


def test_what_is_no_wheel_is_named(tmp_path: Path) -> None:
    (tmp_path / "a-1-py3-none-any.whl").write_text("<html>")
    with pytest.raises(DeliveryError, match=r"a-1-py3-none-any.whl is not a readable wheel .*--fresh"):
        read(tmp_path / "a-1-py3-none-any.whl")


def test_a_condition_is_that_of_the_node() -> None:
    house = [
        wheel("aiosignal", 'typing-extensions>=4.2; python_version < "3.13"', 'x; sys_platform == "win32"')
    ]
    assert lacking(house, ["aiosignal"], MARKS) == ["typing-extensions>=4.2"]
    assert lacking(house, ["aiosignal"], {**MARKS, "python_version": "3.13"}) == []


def test_another_version_than_is_asked_for_is_lacking() -> None:
    house = [wheel("a", "b>=2"), wheel("b", version="1.9")]
    assert lacking(house, ["a"], MARKS) == ["b>=2"]
    assert lacking([*house[:1], wheel("b", version="2.0rc1")], ["a"], MARKS) == ["b>=2"]
    assert lacking([*house[:1], wheel("b", version="2.1rc1")], ["a"], MARKS) == []


def test_names_are_compared_as_pip_compares_them() -> None:
    assert lacking([wheel("typing-extensions")], ["Typing_Extensions"], MARKS) == []


def test_what_comes_with_an_extra_is_asked_for_with_it_only() -> None:
    house = [wheel("a", 'b; extra == "fast"')]
    assert lacking(house, ["a"], MARKS) == []
    assert lacking(house, ["a[fast]"], MARKS) == ["b"]


def test_wheels_that_require_each_other_have_an_end() -> None:
    assert lacking([wheel("a", "b"), wheel("b", "a")], ["a"], MARKS) == []


@given(st.dictionaries(NAMES, st.sets(NAMES)), NAMES)
def test_with_what_is_lacking_nothing_is_lacking_and_no_more_is_asked_for(
    needs: dict[str, set[str]], first: str
) -> None:
    world = {f"p{number}": wheel(f"p{number}", *sorted(needs.get(f"p{number}", ()))) for number in range(8)}
    reached, todo = set[str](), [first]
    while todo:
        if (name := todo.pop()) not in reached:
            reached.add(name)
            todo += needs.get(name, ())
    house: dict[str, Wheel] = {}
    while missing := lacking(house.values(), [first], MARKS):
        assert not set(missing) & set(house)
        house |= {name: world[name] for name in missing}
    assert set(house) == reached
