"""A wheelhouse is made once for a kind of node, by the real pip of wheels in a folder, and it is complete."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from paddle._launch.digests import DigestCache
from paddle._launch.errors import DeliveryError, NodeUnfit
from paddle._launch.upkeep import closure, picking
from paddle._launch.upkeep.interpreter import Interpreter
from paddle._launch.upkeep.wheelhouse import Wheelhouse, Wheelhouses
from tests.launch.upkeep import wheels

OLD = Interpreter("cp312", "x86_64", ("glibc", "2.17"), "3.12.1")
ARM = Interpreter("cp312", "aarch64", ("glibc", "2.36"), "3.12.1")
MUSL = Interpreter("cp312", "x86_64", ("musl", "1.2"), "3.12.1")
ANCIENT = Interpreter("cp31", "x86_64", ("glibc", "2.17"), "3.1.5")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that pip finds, instead of an index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shop"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    wheels.pip(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def clerk(shop: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Fetches in pip's place, and as pip does it asks no condition of the node; gives what was asked for."""
    asked: list[tuple[str, ...]] = []

    def fetch(requirements: Sequence[str], interpreter: Interpreter, folder: Path) -> None:
        asked.append(tuple(requirements))
        on_offer = [closure.read(path) for path in sorted(shop.glob("*.whl"))]
        for wanted in map(Requirement, requirements):
            found = [
                one for one in on_offer if one.name == wanted.name and wanted.specifier.contains(one.version)
            ]
            if not found:
                raise picking.Unmet(f"No matching distribution found for {wanted}", [wanted.name])
            shutil.copy(shop / found[-1].file, folder)

    monkeypatch.setattr(picking, "fetch", fetch)
    return asked


def houses(tmp_path: Path, *wanted: str, **pins: str) -> Wheelhouses:
    return Wheelhouses(tmp_path / "kept", wanted, pins, DigestCache(tmp_path / "digests"))


def files(house: Wheelhouse) -> list[str]:
    assert house.tool.startswith("pip-")
    names = sorted(path.name for path in house.folder.iterdir())
    assert names == sorted(entry.path for entry in house.entries)
    return [name for name in names if name != house.tool]


def test_wheels_are_those_of_the_node_and_not_of_this_machine(shop, tmp_path, said) -> None:
    wheels.make(shop, "compiled", tags=f"{wheels.HERE}-{wheels.HERE}-linux_x86_64")
    for platform in ("manylinux_2_17_x86_64", "manylinux_2_28_x86_64", "musllinux_1_1_x86_64"):
        wheels.make(shop, "compiled", tags=f"cp312-cp312-{platform}")
    found = files(houses(tmp_path, "compiled").of(OLD, said.append))
    assert found == ["compiled-1.0-cp312-cp312-manylinux_2_17_x86_64.whl"]
    assert said == [f"fetching wheels for {OLD}"]


def test_what_has_no_wheels_for_a_node_is_named_with_its_platform(shop, tmp_path, said) -> None:
    wheels.make(shop, "llvm", tags="cp312-cp312-manylinux_2_17_x86_64")
    with pytest.raises(
        NodeUnfit, match=r"no wheels of llvm for CPython 3.12 on x86_64 with musl 1.2"
    ) as caught:
        houses(tmp_path, "llvm").of(MUSL, said.append)
    assert "Few compiled packages are built for musl" in str(caught.value)
    assert list((tmp_path / "kept").iterdir()) == [], "nothing half is kept"


def test_an_index_that_cannot_be_reached_is_told_without_its_password(tmp_path, said, monkeypatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")
    with pytest.raises(DeliveryError) as caught:
        houses(tmp_path, "one", one="1.0").of(OLD, said.append)
    assert "pip cannot reach its index from this machine" in str(caught.value)
    assert "PIP_FIND_LINKS=FOLDER" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert said == [f"fetching wheels for {OLD}"], "no version was given up for it"


def test_what_only_the_nodes_python_requires_comes_too(shop, tmp_path, said, clerk) -> None:
    wheels.make(shop, "one", requires=['old-one>=2; python_version < "3.2"'])
    wheels.make(shop, "old-one", "2.5", requires=["very-old"])
    wheels.make(shop, "very-old")
    house = houses(tmp_path, "one").of(ANCIENT, said.append)
    assert house.packages == {"one": "1.0", "old-one": "2.5", "very-old": "1.0"}
    assert clerk[-1] == ("one", "pip", "old-one>=2", "very-old")


def test_what_is_asked_for_and_does_not_come_is_not_asked_for_for_ever(shop, tmp_path, said, clerk) -> None:
    wheels.make(shop, "one", requires=["two; python_version < '9'"])
    with pytest.raises(NodeUnfit, match="no wheels of two"):
        houses(tmp_path, "one").of(OLD, said.append)
    assert len(clerk) == 2


def test_it_is_kept_and_fetched_again_only_where_it_was_damaged_or_that_is_asked_for(
    shop, tmp_path, said, clerk
) -> None:
    wheels.make(shop, "one")
    first = houses(tmp_path, "one").of(OLD, said.append)
    assert houses(tmp_path, "one").of(OLD, said.append) == first
    assert len(clerk) == 1
    (first.folder / "one-1.0-py3-none-any.whl").write_bytes(b"damaged")
    assert houses(tmp_path, "one").of(OLD, said.append) == first
    wheels.make(shop, "one", "2.0")
    assert houses(tmp_path, "one").of(OLD, said.append).packages == {"one": "1.0"}
    fresh = houses(tmp_path, "one").of(OLD, said.append, fresh=True)
    assert fresh.packages == {"one": "2.0"}
    assert fresh.digest != first.digest
    assert len(clerk) == 3
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_nodes_of_another_kind_have_another_one(shop, tmp_path, said, clerk) -> None:
    wheels.make(shop, "one")
    assert len({houses(tmp_path, "one").of(kind, said.append).folder for kind in (OLD, ARM, MUSL)}) == 3
    wheels.make(shop, "two")
    assert houses(tmp_path, "one", "two").of(OLD, said.append).packages.keys() == {"one", "two"}


def test_nodes_get_the_versions_of_this_machine_where_there_are_wheels(shop, tmp_path, said, clerk) -> None:
    for name in ("one", "two"):
        for version in ("1.0", "2.0"):
            wheels.make(shop, name, version)
    house = houses(tmp_path, "one>=1", "two>=1", one="1.0", two="1.5").of(OLD, said.append)
    assert house.packages == {"one": "1.0", "two": "2.0"}
    assert said[1:] == [f"{OLD} may get other versions than this machine's of two"]


def test_a_python_without_pip_is_told(tmp_path, said, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    command = [*picking._command(OLD, tmp_path), "one"]
    assert command[:4] == ["/usr/bin/python3", "-m", "pip", "download"]
    monkeypatch.setattr(picking, "_run", lambda *_: ("/usr/bin/python3: No module named pip\n", 1))
    with pytest.raises(DeliveryError, match=r"has no pip.*`/usr/bin/python3 -m ensurepip`"):
        houses(tmp_path, "one").of(OLD, said.append)


def test_a_disk_that_takes_nothing_is_named(tmp_path, said) -> None:
    (tmp_path / "kept").write_text("")
    with pytest.raises(DeliveryError, match=r"cannot keep wheels: .*kept"):
        houses(tmp_path, "one").of(OLD, said.append)
